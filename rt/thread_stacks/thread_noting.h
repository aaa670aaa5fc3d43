// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which threads may be asked for their stacks by a signal. Waits are
// noted (thread_wait.h) only from some time on. A thread must not be asked if
// it may still be in a system call that it began before that time, because the
// signal would make the call fail with EINTR.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
#define MPROF_RT_THREAD_STACKS_THREAD_NOTING_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_thread;
struct mprof_thread_slot;

// Records that all waits that t, the calling thread, begins from now on are
// noted.
void mprof_thread_is_noting(struct mprof_thread *t);

// Returns whether it is proven that the thread of a slot is no longer in a
// system call that it began before waits were noted. Two looks at the thread
// may be needed for the proof: the first call stores its look in the slot and
// returns false. Call in a round, in the reader.
// p: state of the thread as the kernel shows it in /proc; the thread must be
//   running.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_THREAD_STACKS_THREAD_NOTING_H
