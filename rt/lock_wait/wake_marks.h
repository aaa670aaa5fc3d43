// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace's marks of the releases of one object. A release adds a mark, and a
// thread that it has woken takes the mark. Several releases may happen before
// the first woken thread runs, so the object keeps the last few marks.
//
// The lock that guards the object's record in the table of waiters (waiters.h)
// guards the marks, too.

#ifndef MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
#define MPROF_RT_LOCK_WAIT_WAKE_MARKS_H

#include "trace_hooks/trace_hooks.h"

// Which threads a release wakes.
enum mprof_wakes {
  // The next owner of a lock. An owner in between has released the lock again,
  // so only the last release counts.
  MPROF_WAKES_NEXT_OWNER,
  MPROF_WAKES_ONE, // one waiter: a signal of a condition, a semaphore post
  MPROF_WAKES_ALL, // all waiters: a broadcast
};

// Maximum number of marks that no thread has taken yet.
#define MPROF_WAKE_MARKS 8u

struct mprof_wake_marks {
  uint32_t len;
  struct {
    struct mprof_trace_mark mark;
    enum mprof_wakes wakes;
  } marks[MPROF_WAKE_MARKS];    // oldest first
  struct mprof_trace_mark lost; // newest mark that had to give way to another
};

void mprof_wake_marks_clear(struct mprof_wake_marks *m);
void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark, enum mprof_wakes wakes);
// Returns the oldest mark that can have woken a thread that waits since start,
// and removes the mark if it wakes one thread only. start: time of the clock in
// ticks. The result has no buffer if there is no such mark.
struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start);
// Removes the oldest mark if it wakes one thread only: a thread that did not
// wait has taken the object.
void mprof_wake_marks_skip(struct mprof_wake_marks *m);

#endif // MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
