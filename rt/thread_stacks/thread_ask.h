// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal that asks a running thread for its stack. The signal's value names
// the round and the slot that the thread is to fill (thread_slots.h). The
// handler is installed only during a round. It fills the slot, and passes on
// signals that are not the runtime's own.
//
// Call mprof_ask_begin, mprof_ask and mprof_ask_end with stacks_lock held.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_ASK_H
#define MPROF_RT_THREAD_STACKS_THREAD_ASK_H

#include "sys/base.h"

// Returns the signal's number, from the option threads_signal.
int mprof_ask_signal(void);
// Installs the handler. Returns 0; or -errno, and then no thread can be
// asked.
int mprof_ask_begin(void);
// Sends the signal to thread tid, for a slot of a round. Returns 0 or -errno.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Removes the handler, unless the signal has not reached all threads that were
// asked: a thread may still get it. lost: number of threads that were asked and
// have ended since.
void mprof_ask_end(unsigned lost);
// Removes the handler in a forked child.
void mprof_ask_reset(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_ASK_H
