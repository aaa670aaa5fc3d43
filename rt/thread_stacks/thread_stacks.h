// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the stacks of all threads. One collection is called a round, and the
// thread that runs the round is the reader. Each thread has a slot
// (thread_slots.h) for its stack. The reader fills the slot of a thread that
// waits. Any other thread fills its own slot, either in the handler of the
// reader's signal (thread_ask.h), or when the thread begins or ends a wait
// (thread_wait.h). Only one round is active at a time.
// (Go: goroutineProfileWithLabelsConcurrent)

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STACKS_H

#include "sys/base.h"
#include "thread_stacks/thread_slots.h"

// The ids of the threads of the process, without the runtime's own threads, in
// the order in which the threads were created.
struct mprof_tids {
  int *v;
  size_t len, mapped_bytes;
  size_t missing; // number of threads that the kernel has not listed
};
// Lists the threads. Threads that are created meanwhile may be missing. Returns
// 0 or -errno. After an error, the list is empty. Free *t with mprof_tids_free.
int mprof_tids_list(struct mprof_tids *t);
void mprof_tids_free(struct mprof_tids *t);

// Collects the stacks of all threads except the profiler's own threads.
// Acquires stacks_lock. Call with the recursion guard set. frame: frame address
// of the calling function. The stack of the calling thread
//   begins with the caller of this function.
// limit: maximum number of threads.
// stops: true: all threads are stopped until all stacks are collected; false:
//   each thread goes on as soon as its own stack is collected.
// Returns 0, or -ENOMEM, or -ERANGE if there are more threads than limit. After
// -ERANGE, s->threads is the number of threads, and no thread was disturbed.
// Free *s with mprof_thread_stacks_free.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// Stops all threads, collects their stacks, and calls inspect(s, arg) before
// the threads go on. Holds registry_lock during the call of inspect. Acquires
// stacks_lock. Returns 0 or -ENOMEM. After an error, inspect was not called.
// Call with the recursion guard set. Free *s with mprof_thread_stacks_free.
// frame: as for mprof_thread_stacks_take.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// These functions acquire and release stacks_lock. While the caller holds the
// lock, nobody collects the stacks of all threads.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// Registers the functions of this module that the runtime calls at the begin
// and end of each thread and of each wait. Call at the start of the process.
void mprof_thread_stacks_init(void);
// Resets this module in a forked child, where nobody collects stacks.
void mprof_thread_stacks_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
