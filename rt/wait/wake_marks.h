// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace's marks of an object's releases, until the threads that these have
// woken take them: several releases may come before the first of the threads
// runs. What guards the object's waiters guards them.

#ifndef MPROF_RT_WAIT_WAKE_MARKS_H
#define MPROF_RT_WAIT_WAKE_MARKS_H

#include "thread/trace_hooks.h"

// Whom a release wakes.
enum mprof_wakes {
  // Of a lock, whoever gets it next: who came in between has released it since,
  // so only the last release counts.
  MPROF_WAKES_NEXT_OWNER,
  MPROF_WAKES_ONE, // of those that wait: a signal, a post
  MPROF_WAKES_ALL, // a broadcast
};

// Marks that nobody has taken.
#define MPROF_WAKE_MARKS 8u

struct mprof_wake_marks {
  uint32_t len;
  struct {
    struct mprof_trace_mark mark;
    enum mprof_wakes wakes;
  } marks[MPROF_WAKE_MARKS];    // oldest first
  struct mprof_trace_mark lost; // newest that there was no room for
};

void mprof_wake_marks_clear(struct mprof_wake_marks *m);
void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark, enum mprof_wakes wakes);
// For a thread that has waited since start, of the clock: the oldest mark that
// can have woken it; one without a buffer if there is none.
struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start);
// What the oldest release of one gave was taken by a thread that did not wait.
void mprof_wake_marks_skip(struct mprof_wake_marks *m);

#endif // MPROF_RT_WAIT_WAKE_MARKS_H
