// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which threads may be asked for their stacks by a signal. A thread
// notes its waits (thread_wait.h) only after the first collection of stacks has
// requested it. Until then the thread may be in a system call of an unnoted
// wait. Such a thread must not be asked, because the signal would make the call
// fail with EINTR.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
#define MPROF_RT_THREAD_STACKS_THREAD_NOTING_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_thread;
struct mprof_thread_slot;

// Records that the calling thread will note each wait that it begins (store the
// address of the wait in its record). t: the calling thread.
void mprof_thread_is_noting(struct mprof_thread *t);

// Returns whether it is proven that the thread of the slot is not in a wait
// that the thread has not noted. The proof may need two calls: the first call
// stores the thread's processor time and number of sleeps in the slot and
// returns false. Call in the thread that collects the stacks.
// p: state of the thread, which must be running, as the kernel shows it in
//   /proc.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
