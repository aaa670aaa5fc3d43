// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The system call that a signal handler of the runtime has interrupted, and the
// noted wait that the call belongs to. The registers that the kernel has saved
// below the handler's frame tell this (thread_interrupted.c). All functions are
// for the calling thread, in the handler.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
#define MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_wait;

// Describes in *p the system call that the handler has interrupted, in the form
// that mprof_proc_thread uses for other threads. frame: frame address of a
// function that the handler has called. If the call has ended with EINTR, its
// number is MPROF_SYSCALL_UNKNOWN; otherwise the kernel restarts it when the
// handler returns. Returns false if the handler has interrupted no call.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// Does so from context, the ucontext_t that the handler has got.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Returns whether the interrupted call p is a futex call in which the thread
// will sleep again after the handler: no thread has changed the futex's word.
// calls_again: the function that has made the call repeats it after EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// Returns the noted wait whose system call the handler has interrupted; NULL if
// there is none. frame: as of mprof_interrupted_call.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

#endif // MPROF_RT_THREAD_STACKS_THREAD_INTERRUPTED_H
