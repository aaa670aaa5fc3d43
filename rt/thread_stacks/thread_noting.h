// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which threads may be asked for their stacks by a signal. A thread
// that has begun a system call before waits were noted must not be asked: the
// signal would end the call early. A thread whose waits all have notes
// (thread_wait.h) is past such calls.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
#define MPROF_RT_THREAD_STACKS_THREAD_NOTING_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_thread;
struct mprof_thread_slot;

// Marks t, the calling thread, as a thread that begins no wait without a note
// from now on.
void mprof_thread_is_noting(struct mprof_thread *t);

// Returns whether the thread of a slot is known to be past all calls that it
// has begun without a note. p: the kernel's description of the thread, which
// says that it runs. After false, a later call may return true, because the
// slot remembers this look. Call in a round, as the reader.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
