// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits for what: a record for each lock that threads wait for now, by the
// lock's address, so that a release can be charged with their waiting in
// constant time, however many they are. Locks that nobody waits for have none.
// (Go: the counts and stamps in sudog and semaRoot)
//
// All are called with the guard set.

#ifndef MPROF_RT_WAIT_WAITERS_H
#define MPROF_RT_WAIT_WAITERS_H

#include "wait/wake_marks.h"

struct mprof_trace_waker; // trace.h

// Enters a thread that waits for object since start. False: no memory.
bool mprof_waiters_enter(uintptr_t object, uint64_t start);
// Takes it out. Returns when object was last released, 0 if not since start,
// and the mark that the trace has of the release that woke it. mark: NULL if no
// release did.
uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark);

// What a release owes.
struct mprof_charge {
  uint64_t ticks;
  uint64_t stamp, before; // of the record: now, and as it was
};
// Object is about to be released: stamps the time, and returns what its waiters
// have waited since they came or since the last charge. waker: who releases, as
// the trace has it, for a record if somebody waits; or NULL.
struct mprof_charge mprof_waiters_charge(uintptr_t object,
                                         enum mprof_wakes wakes,
                                         const struct mprof_trace_waker *waker);
// It was not released after all. What another release has charged in the
// meantime stays.
void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c);

// What one release of object gave was taken by a thread that did not wait, so
// that who was woken for it waits on.
void mprof_waiters_skip(uintptr_t object);

// Of locks with mprof_lock, which have no form that does not wait: notes that
// one more thread holds object or is about to, until mprof_waiters_let_go.
// Returns whether another did.
bool mprof_waiters_hold(uintptr_t object);
void mprof_waiters_let_go(uintptr_t object);

// In a forked child: nobody waits.
void mprof_waiters_reset(void);

#endif // MPROF_RT_WAIT_WAITERS_H
