// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that will never run again, after Go's goroutineleak.
//
//   stuck_locks.c  what a wait is for, and what a lock tells about its holder
//   stuck_graph.c  who waits for whom: threads that wait for a lock or for a
//                  thread, and which of them nobody can ever wake
//   stuck_scan.c   whether a condition, semaphore or barrier can be reached by
//                  a thread that may still run, in a copy of the process
//   stuck.c        both, and a second look at who is accused
//   write_stuck.c  the report
//
// All by one rule: a thread is stuck unless it is shown that it may run. So
// whatever is not understood counts as if it could run, or be reached.

#ifndef MPROF_RT_STUCK_STUCK_H
#define MPROF_RT_STUCK_STUCK_H

#include "stuck/stuck_types.h"

// Between the two the calling thread's frames and registers are the runtime's
// own, but for what caller says, which must stay where it is.
void mprof_stuck_enter(const struct mprof_caller *caller);
void mprof_stuck_leave(void);
// Finds the stuck threads; those that have waited for less than age ticks may
// run. caller: its frame is 0 in a thread of the runtime's own. 0 or ENOMEM.
// Free it with mprof_stuck_free in either case. Call with the guard set.
int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);
// Whether a thread has waited for so long in what it may never leave.
bool mprof_stuck_may_be(uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_H
