// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the stacks of all threads, in a round. The thread that takes them is
// the reader. The reader fills the slots (thread_slots.h) of threads that wait.
// Another thread fills its own slot: in the handler of the signal that asks it
// (thread_ask.h), or where it begins or ends a wait (thread_wait.h). Only one
// round is active at a time. (Go: goroutineProfileWithLabelsConcurrent)

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STACKS_H

#include "thread_stacks/thread_slots.h"

// Takes the stacks of all threads except the profiler's own thread. Takes
// stacks_lock. Call with the guard set.
// frame: frame address of the calling function; the calling thread's stack
//   begins with this function's caller.
// limit: maximum number of threads.
// stops: all threads stand still together meanwhile.
// Returns 0, -ENOMEM, or -ERANGE if there are more threads than limit. After
// -ERANGE, s->threads is their number, and no thread was disturbed. Free *s
// with mprof_thread_stacks_free.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// Takes the stacks of all threads, with all threads stopped. If there is no
// error, calls inspect(s, arg) before the threads go on, with registry_lock
// held. frame, the result and the guard are as of mprof_thread_stacks_take.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
// Id of the runtime's own thread, which is in no profile; 0: there is none.
extern atomic_int mprof_own_thread;
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// Take and release stacks_lock. No round is active while it is held, so no
// other thread reads threads.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// Registers at start for the begin and the end of threads.
void mprof_thread_stacks_init(void);
// Resets the rounds in a forked child, where no round is active.
void mprof_thread_stacks_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
