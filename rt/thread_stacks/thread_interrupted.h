// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the system call that a signal handler has interrupted, and the noted
// wait to which the call belongs. A wait is noted if the thread's record has
// the address of its struct mprof_wait. The functions read the registers that
// the kernel saved before it called the handler (thread_interrupted.c). Call
// these functions in the handler.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
#define MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_wait;

// Describes in *p the system call that the signal handler has interrupted.
// Returns false if the handler has not interrupted a system call. If the call
// has failed with EINTR, p->syscall is MPROF_SYSCALL_UNKNOWN. Otherwise the
// kernel will restart the call when the handler returns.
// frame: frame address of a function that the handler has called.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// Describes in *p the system call that a signal handler has interrupted. The
// results are those of mprof_interrupted_call.
// context: the ucontext_t that the kernel has passed to the handler.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Returns whether the thread will sleep again in the interrupted futex call p
// when the handler has returned. The thread sleeps again if the futex word
// still has a value for which the call waits. Returns false if p is not a futex
// call.
// calls_again: true: the caller of the system call repeats the call after
//   EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// Returns the wait whose system call the signal handler has interrupted.
// Returns NULL if the handler has not interrupted a wait, or if the address of
// the wait is not in the thread's record (thread_wait.h).
// frame: frame address of a function that the handler has called.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

#endif // MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
