// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether the registry has all threads of the process. If it has, a
// round need not read the kernel's list of threads, which costs about a
// microsecond for each thread.
//
// The kernel counts the threads of the process cheaply. The registry has all
// threads if it has as many live threads as the kernel counts. Two facts may
// make the numbers equal although a thread is missing:
// - A registered thread has ended, and the runtime has not noticed its end,
//   because the thread has called the system call exit itself.
// - The runtime's own threads begin and end without registry_lock.
// Therefore each thread that the runtime has counted is looked up in the kernel
// after the kernel has counted. If a thread exists then, it also existed when
// the kernel counted, because the runtime knew it earlier. If all of them
// exist, then at the time of the kernel's count there were as many threads as
// the kernel counted, and so no others. (This assumes that no seccomp filter
// refuses the look-up, and that the kernel does not give the id of an ended
// thread to a new thread between the count and the look-up. The kernel gives
// ids in turn, so it would have to give all others first.)
//
// To look up a thread costs half of what the kernel's list costs. Most threads
// are therefore looked up late, when the round has asked the running threads:
// those whose end the runtime notices. Such a thread may end between the count
// and the look-up. It then takes registry_lock first, so the registry shows
// that the thread existed at the time of the count.

#ifndef MPROF_RT_THREAD_STACKS_KNOWN_THREADS_H
#define MPROF_RT_THREAD_STACKS_KNOWN_THREADS_H

#include "sys/base.h"
#include "thread/own_thread.h"

struct mprof_reader;
struct mprof_thread_stacks;

// Returns whether the registry seems to have all threads. This is a cheap check
// that needs no lock. Returns false if there are few threads, because the
// kernel's list is then cheap.
bool mprof_known_seem_all(void);
// The ids of the runtime's own threads; 0: none.
struct mprof_own_tids {
  int v[MPROF_OWNS];
};
struct mprof_own_tids mprof_known_own(void);
// Returns whether the slots of s and the runtime's own threads are as many as
// `threads`. Looks up the runtime's own threads in the kernel.
// threads: the kernel's number of threads, read with registry_lock held, before
//   the slots of the registered threads were added
// own: what mprof_known_own has returned before `threads` was read
bool mprof_known_are_all(const struct mprof_thread_stacks *s,
                         const struct mprof_own_tids *own, uint64_t threads);
// Looks up the threads whose end the runtime notices. Returns whether any of
// them may have ended before the kernel's count. In this case the round may
// lack a thread. Leaves the ended threads out of the round. Call in the active
// round, with registry_lock held only if the round stops all threads.
bool mprof_known_are_doubtful(const struct mprof_reader *r);

#endif // MPROF_RT_THREAD_STACKS_KNOWN_THREADS_H
