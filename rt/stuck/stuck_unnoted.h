// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the lock for which a thread waits, if the wait is unnoted: the thread
// has not stored the address of its struct mprof_wait in its record
// (thread_wait.h). Most programs do not prepare for a hang, so all their waits
// are unnoted. The kernel shows the futex in which a thread sleeps. The
// thread's stack shows that pthread_mutex_lock or a function for rwlocks sleeps
// there. The address of the lock follows from the address of the futex. Only
// locks of glibc are understood.

#ifndef MPROF_RT_STUCK_STUCK_UNNOTED_H
#define MPROF_RT_STUCK_STUCK_UNNOTED_H

#include "stuck/stuck_types.h"

// If thread x sleeps in an unnoted wait for a lock (a wait that x has not
// stored in its record), sets the fields of x that describe the wait. Otherwise
// does not change x.
// slot: slot of the thread, which is stopped. NULL: the thread is not stopped.
void mprof_stuck_unnoted_find(struct mprof_stuck_thread *x,
                              const struct mprof_thread_slot *slot);
// Returns whether thread x still sleeps in its unnoted wait. Stores in x the
// number of times that the thread has slept.
bool mprof_stuck_unnoted_sleeps(struct mprof_stuck_thread *x);
// Returns whether thread x has slept without a break since the last call of
// mprof_stuck_unnoted_sleeps.
bool mprof_stuck_unnoted_has_slept(const struct mprof_stuck_thread *x);
// Stores in the slot a stack of at most two addresses: the hooked function in
// which the stuck thread x waits, and the caller of this function, if the
// caller is known.
void mprof_stuck_unnoted_stack(const struct mprof_stuck_thread *x,
                               struct mprof_thread_slot *slot, size_t depth);
// Completes the stacks of the stuck threads in unnoted waits (waits that the
// threads have not stored in their records). Collects the stacks of all
// threads, because only the threads themselves can unwind these stacks safely.
// Does nothing if no stuck thread is in an unnoted wait. Takes stacks_lock.
void mprof_stuck_unnoted_complete(struct mprof_stuck *g,
                                  const struct mprof_caller *caller);

#endif // MPROF_RT_STUCK_STUCK_UNNOTED_H
