// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a signal handler of the runtime has interrupted.

#ifndef MPROF_RT_WAIT_THREAD_INTERRUPTED_H
#define MPROF_RT_WAIT_THREAD_INTERRUPTED_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_wait;

// The system call that a signal has interrupted, whose handler the calling
// thread is in, below frame: as mprof_proc_thread says it of others. Its number
// is MPROF_SYSCALL_UNKNOWN if it has ended with EINTR, else it begins anew when
// the handler comes back. False: there is none.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// The same of the context, a ucontext_t, that a handler has got.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Whether the thread will then sleep in such a call, of a futex: nobody has
// changed that. calls_again: its caller does not return for EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// The noted wait that was interrupted so; NULL if there is none.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

#endif // MPROF_RT_WAIT_THREAD_INTERRUPTED_H
