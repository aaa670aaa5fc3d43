// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds threads that will never run again, modeled on Go's goroutineleak.
//
//   stuck_locks.c  finds the thing that a thread waits for, and the holder of a
//                  lock
//   stuck_graph.c  builds the graph of threads that wait for a lock or for a
//                  thread, and finds the threads that no other thread can wake
//   stuck_memory.c, stuck_libc_stacks.c
//                  find the areas, blocks and stacks in a copy of the process
//   stuck_scan.c   searches this copy for the conditions, semaphores and
//                  barriers that a thread that may run can still reach
//   stuck.c        calls all steps, and checks the threads found stuck again
//   stuck_watch.c  repeats the search at intervals, for the option stuck_report
//   write_stuck.c  writes the report
//
// All these files follow one rule: a thread counts as stuck only if nothing
// shows that it may run. A thread that is not understood counts as able to run,
// and memory that is not understood counts as reachable.

#ifndef MPROF_RT_STUCK_STUCK_H
#define MPROF_RT_STUCK_STUCK_H

#include "stuck/stuck_types.h"

// Tell the search that the calling thread enters and leaves the runtime.
// Between these calls, the thread's current frames and registers are the
// runtime's. *caller has the address of the program's frames, and the program's
// registers. *caller must stay valid until mprof_stuck_leave. Calls nest.
void mprof_stuck_enter(const struct mprof_caller *caller);
void mprof_stuck_leave(void);
// Finds the stuck threads and stores the result in *g. May stop all threads for
// a moment. caller has the program's frames; its frame is 0 in a thread that
// belongs to the runtime. age is in ticks; a thread that has waited for less
// than age counts as able to run. Returns 0 or -ENOMEM. Free *g with
// mprof_stuck_free in either case. Call with the guard set.
int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);
// Returns whether any thread has waited for at least age ticks in a wait that
// may never end. This function is cheap, because it only reads the waits that
// the threads have recorded (thread_wait.h).
bool mprof_stuck_may_be(uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_H
