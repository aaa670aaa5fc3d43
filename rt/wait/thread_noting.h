// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads whose waits all have notes.

#ifndef MPROF_RT_WAIT_THREAD_NOTING_H
#define MPROF_RT_WAIT_THREAD_NOTING_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_thread;
struct mprof_thread_slot;

// From now on t, the calling thread, begins no wait without a note.
void mprof_thread_is_noting(struct mprof_thread *t);

// Whether a thread that runs, as p says, is known not to be in a call that it
// has begun without a note: if not, it may be at a later look.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_WAIT_THREAD_NOTING_H
