// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The marks of the releases of one object. A mark links the wakeup of a thread
// to the release that caused it, for the trace. Each release adds a mark, and
// the thread that the release has woken takes the mark. Several releases may
// happen before the first woken thread runs, so several marks are kept.
//
// The marks are part of the object's record in the table of waiters
// (waiters.h). They are guarded by the same lock as the record.

#ifndef MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
#define MPROF_RT_LOCK_WAIT_WAKE_MARKS_H

#include "trace_hooks/trace_hooks.h"

// The threads that a release wakes.
enum mprof_wakes {
  // The next owner of a lock. Between two releases of a lock, a thread has
  // taken it. So only the last release has made the lock free for the next
  // owner, and only the mark of the last release is kept.
  MPROF_WAKES_NEXT_OWNER,
  MPROF_WAKES_ONE, // one waiter, as by pthread_cond_signal or sem_post
  MPROF_WAKES_ALL, // all waiters, as by pthread_cond_broadcast
};

// Maximum number of marks that are kept. If a release adds one more, the oldest
// mark is dropped.
#define MPROF_WAKE_MARKS 8u

struct mprof_wake_marks {
  uint32_t len;
  struct {
    struct mprof_trace_mark mark;
    enum mprof_wakes wakes;
  } marks[MPROF_WAKE_MARKS];    // oldest first
  struct mprof_trace_mark lost; // last mark dropped because marks[] was full
};

void mprof_wake_marks_clear(struct mprof_wake_marks *m);
void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark, enum mprof_wakes wakes);
// Returns the oldest mark whose release can have woken a thread that has waited
// since start, a time in ticks. Removes the mark if its release wakes only one
// thread. If there is no such mark, the field buf of the result is NULL.
struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start);
// Removes the oldest mark if its release wakes only one thread. Call this when
// a thread that did not wait has taken the object, because the woken thread
// then has to keep waiting.
void mprof_wake_marks_skip(struct mprof_wake_marks *m);

#endif // MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
