// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal that asks a running thread for its stack. The signal's value has
// two numbers: the number of the round (the present collection of all stacks;
// see thread_stacks.h) and the number of the slot (thread_slots.h) that the
// thread must fill. The signal's handler is installed only during a round. The
// handler fills the slot. If the runtime has not sent the signal, the handler
// calls the program's handler instead.
//
// Call mprof_ask_begin, mprof_ask and mprof_ask_end with stacks_lock held.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_ASK_H
#define MPROF_RT_THREAD_STACKS_THREAD_ASK_H

#include "sys/base.h"

// Returns the number of the signal, which the option threads_signal selects.
int mprof_ask_signal(void);
// Installs the signal handler. Returns 0 or -errno. After an error, mprof_ask
// fails for all threads.
int mprof_ask_begin(void);
// Sends thread tid the signal that asks for its stack. Returns 0 or -errno.
// round: number of the active round.
// slot: number of the thread's slot.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Waits for a short time until all sent signals have arrived, and then removes
// the signal handler. If a signal may still arrive later, the handler stays
// installed.
// lost: number of threads that were asked and have ended without an answer.
void mprof_ask_end(unsigned lost);
// Removes the signal handler in a forked child. A forked child has no pending
// signals, so no signal of the parent can still arrive.
void mprof_ask_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_ASK_H
