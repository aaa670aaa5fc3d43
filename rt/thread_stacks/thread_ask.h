// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal that asks a running thread for its stack. The signal's value has
// the number of the round and the number of the slot that the thread must fill
// (thread_slots.h). The handler is installed only during a round. It fills the
// slot, and passes on signals that the runtime has not sent.
//
// Call mprof_ask_begin, mprof_ask and mprof_ask_end with stacks_lock held.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_ASK_H
#define MPROF_RT_THREAD_STACKS_THREAD_ASK_H

#include "sys/base.h"

// Returns the signal's number, from the option threads_signal.
int mprof_ask_signal(void);
// Installs the handler. Returns 0 or -errno. After an error, mprof_ask fails
// for all threads.
int mprof_ask_begin(void);
// Sends the signal to thread tid. round and slot are the numbers of the round
// and of the thread's slot. Returns 0 or -errno.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Waits for a short time for signals that have not arrived, and then removes
// the handler. If a signal may still arrive, keeps the handler. lost: number of
// threads that were asked and have ended without an answer.
void mprof_ask_end(unsigned lost);
// Removes the handler in a forked child, where no signal can still arrive.
void mprof_ask_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_ASK_H
