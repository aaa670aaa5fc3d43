// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks of all threads. (Go: goroutineProfileWithLabelsConcurrent)
//
// Each thread of a round has a slot, which is Absent, then InProgress for the
// one who fills it, then Satisfied: that is the reader, for a thread that
// waits; or the thread itself, in a signal's handler, or where it begins or
// ends a wait.

#ifndef MPROF_RT_WAIT_THREAD_STACKS_H
#define MPROF_RT_WAIT_THREAD_STACKS_H

#include "wait/thread_slots.h"

// Takes one of all threads but the profiler's own; frame: the caller's frame
// address, whose caller comes first on its own stack. stops: all stand still
// together meanwhile. 0; ENOMEM; ERANGE where there are more than limit, which
// disturbs none, and then threads says how many. Free it with
// mprof_thread_stacks_free. Call with the guard set.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// The same, with all threads stopped; calls inspect before they go on, with
// the registry's lock held, if there is no error.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
// The runtime's own thread, which is in no profile; 0: there is none.
extern atomic_int mprof_own_thread;
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// Keeps others from reading threads: there is no round between the two.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// At start: learns of threads that come and end.
void mprof_thread_stacks_init(void);
// In a forked child: no round is under way.
void mprof_thread_stacks_reset(void);

#endif // MPROF_RT_WAIT_THREAD_STACKS_H
