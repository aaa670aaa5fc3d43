// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds stuck threads: threads that will never run again. Modeled on Go's
// goroutineleak.
//
//   stuck_locks.c  finds the object that a thread waits for, and the holder
//                  of a lock
//   stuck_unnoted.c
//                  finds the lock for which a thread waits, if the runtime has
//                  not recorded the wait
//   stuck_graph.c  builds the graph of threads that wait for a lock or for a
//                  thread, and finds the threads that no other thread can wake
//   stuck_blocks.c finds malloc's blocks in a copy of the process
//   stuck_memory.c finds the memory areas and the stacks in this copy, and
//                  searches its words for addresses of blocks
//   stuck_scan.c   searches this copy, and what the kernel stores, for the
//                  conditions, semaphores and barriers that a thread that may
//                  run can still reach
//   stuck.c        calls all steps, and checks the threads found stuck again
//   watch.c        repeats the search at intervals, for the option stuck_report
//   kind_threadleak.c
//                  writes the report
//
// All these files follow one rule: a thread counts as stuck only if nothing
// shows that it may run. If the search does not understand what a thread does,
// the thread counts as able to run. If the search does not understand some
// memory, the memory counts as reachable.

#ifndef MPROF_RT_STUCK_STUCK_H
#define MPROF_RT_STUCK_STUCK_H

#include "stuck/stuck_graph.h"

// Tell the search that the calling thread enters or leaves the runtime. Between
// these two calls, the thread's current frames and registers are the runtime's,
// not the program's. *caller holds the program's registers and the address of
// the program's frames. *caller must stay valid until mprof_stuck_leave is
// called. Pairs of these calls may nest.
void mprof_stuck_enter(const struct mprof_caller *caller);
void mprof_stuck_leave(void);
// Finds the stuck threads and stores the result in *g. May stop all threads for
// a moment. Returns 0 or -ENOMEM. In either case free *g with mprof_stuck_free.
// Call with the guard set.
// caller: the program's frames and registers in the calling thread.
//   caller->frame is 0 in a thread that belongs to the runtime.
// age: a time in ticks. A thread that has waited for less than this time counts
//   as able to run.
int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);
// The result of a search that only reads the waits that the threads have
// recorded (thread_wait.h), and does not search memory.
struct mprof_stuck_signs {
  bool is_stuck; // some threads that wait for locks or for threads are stuck
  // Time in ticks at which the last of the waits for conditions, semaphores and
  // barriers began. Only a search of memory can judge these waits. 0: no such
  // waits.
  uint64_t newest;
};
// Finds the signs of stuck threads among the waits that have lasted for at
// least `age` ticks. Stops no thread. Call with the recursion guard set.
struct mprof_stuck_signs mprof_stuck_look(uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_H
