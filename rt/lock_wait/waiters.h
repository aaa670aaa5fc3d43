// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of waiters: one record for each lock that threads wait for now,
// found by the lock's address. A release can therefore be charged with the time
// of all waiters in constant time, however many there are. A lock without
// waiters has no record. (Go: the counts and stamps in sudog and semaRoot)
//
// A slot of the table has its own lock (rank MPROF_RANK_WAITERS), which each
// function takes. Call all functions with the guard set.

#ifndef MPROF_RT_LOCK_WAIT_WAITERS_H
#define MPROF_RT_LOCK_WAIT_WAITERS_H

#include "lock_wait/wake_marks.h"

struct mprof_trace_waker; // trace_hooks.h

// Adds the calling thread to the waiters for object. start: begin of the wait,
// in ticks. Returns false if there is no memory.
bool mprof_waiters_enter(uintptr_t object, uint64_t start);
// Removes the calling thread from the waiters for object. start: as passed to
// mprof_waiters_enter. Returns the time of the last release of object, in
// ticks; 0 if it was not released since start. *mark receives the trace's mark
// of the release that woke the thread. mark is NULL if no release did.
uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark);

// The time that a release is charged with.
struct mprof_charge {
  uint64_t ticks; // total time of the waiters; 0: no charge
  uint64_t stamp,
      before; // time stamp of the record, after and before the charge
};
// Charges a release of object that is about to happen: stamps the record with
// the current time, and returns the time that its waiters have waited since
// they came or since the last charge. waker: the releasing thread's row in the
// trace, which gets a record if a thread waits; NULL: not in the trace.
struct mprof_charge mprof_waiters_charge(uintptr_t object,
                                         enum mprof_wakes wakes,
                                         const struct mprof_trace_waker *waker);
// Takes charge c back, because the release failed. Does nothing if another
// release has been charged in the meantime.
void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c);

// Drops the mark of the oldest release of object that wakes one thread: a
// thread that did not wait has taken the object, so the thread that was woken
// for it goes on waiting.
void mprof_waiters_skip(uintptr_t object);

// Counts one more thread that holds object or is about to hold it, until
// mprof_waiters_let_go. Returns whether another thread was counted already. For
// locks marked with mprof_lock, which have no try function.
bool mprof_waiters_hold(uintptr_t object);
void mprof_waiters_let_go(uintptr_t object);

// Empties the table in a forked child, where no thread waits.
void mprof_waiters_reset(void);

#endif // MPROF_RT_LOCK_WAIT_WAITERS_H
