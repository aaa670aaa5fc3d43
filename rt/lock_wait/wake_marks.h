// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells the trace which release of an object, such as a lock or a condition,
// has woken a thread. Each release adds a mark, which refers to the release's
// record in the trace. The woken thread takes the mark and writes its number
// into that record. Several releases may happen before the first woken thread
// runs, so each object has a list of marks.
//
// The marks are part of the object's record in the table of waiters
// (waiters.h). They are guarded by the same lock as the record.

#ifndef MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
#define MPROF_RT_LOCK_WAIT_WAKE_MARKS_H

#include "trace_hooks/trace_hooks.h"

// The threads that a release wakes.
enum mprof_wakes {
  // The thread that takes the lock next. Before each release, some thread has
  // taken the lock, so the thread that takes it next can only have been woken
  // by the last release. Therefore older marks are removed.
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
// Returns the oldest mark whose release can have woken a thread that began to
// wait at the time `start`, in ticks. Removes the mark if its release wakes
// only one thread. If there is no such mark, the field buf of the result is
// NULL.
struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start);
// Removes the oldest mark if its release wakes only one thread. Call this when
// a thread that did not wait has taken the object, because the woken thread
// then has to keep waiting.
void mprof_wake_marks_skip(struct mprof_wake_marks *m);

#endif // MPROF_RT_LOCK_WAIT_WAKE_MARKS_H
