// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the system call that a signal handler of the runtime has interrupted,
// and the noted wait to which the call belongs. The functions read the
// registers that the kernel has saved for the handler (thread_interrupted.c).
// Call them in the handler, for the calling thread.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
#define MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_wait;

// Describes in *p the system call that the handler has interrupted. Returns
// false if the handler has not interrupted a system call. If the call has ended
// with EINTR, p->syscall is MPROF_SYSCALL_UNKNOWN. Otherwise the kernel will
// restart the call when the handler returns.
// frame: frame address of a function that the handler has called.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// Describes the interrupted system call in the way of mprof_interrupted_call.
// context: the ucontext_t that the kernel has passed to the handler.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Returns whether the thread will sleep again in the interrupted call p after
// the handler. This is so if p is a futex call, and no thread has changed the
// futex's word meanwhile.
// calls_again: the caller of the system call repeats the call after EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// Returns the noted wait whose system call the handler has interrupted; NULL if
// there is no such wait. frame: frame address of a function that the handler
// has called.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

#endif // MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
