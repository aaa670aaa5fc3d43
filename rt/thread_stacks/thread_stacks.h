// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the stacks of all threads. Such an action is called a round, and the
// thread that carries it out is the reader. Each thread has a slot
// (thread_slots.h) for its stack. The reader fills the slot of a thread that
// waits. A thread that does not wait fills its own slot: in the handler of the
// signal by which the reader asks the thread (thread_ask.h), or when it begins
// or ends a wait (thread_wait.h). Only one round is active at a time.
// (Go: goroutineProfileWithLabelsConcurrent)

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STACKS_H

#include "thread_stacks/thread_slots.h"

// Takes the stacks of all threads except the profiler's own thread. Takes
// stacks_lock. Call with the guard set.
// frame: frame address of the calling function; the calling thread's stack
//   begins with this function's caller.
// limit: maximum number of threads.
// stops: true: all threads are stopped at the same time, until their stacks are
//   taken; false: each thread goes on as soon as its own stack is taken.
// Returns 0, or -ENOMEM, or -ERANGE if there are more threads than limit. After
// -ERANGE, s->threads is the number of threads, and no thread was disturbed.
// Free *s with mprof_thread_stacks_free.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// Stops all threads, takes their stacks, and calls inspect(s, arg) before the
// threads go on. registry_lock is held during this call. Takes stacks_lock.
// Returns 0 or -ENOMEM; after an error, inspect was not called. Call with the
// guard set. For frame, see mprof_thread_stacks_take. Free *s with
// mprof_thread_stacks_free.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
// Id of the runtime's own thread, which no profile shows; 0: there is none.
extern atomic_int mprof_own_thread;
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// Take and release stacks_lock. While the caller holds the lock, no round is
// active.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// Registers this module's functions for the begin and end of threads, and for
// the begin and end of waits. Call at start.
void mprof_thread_stacks_init(void);
// Resets this module in a forked child, where no round is active.
void mprof_thread_stacks_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
