// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal that asks a thread for its stack.

#ifndef MPROF_RT_WAIT_THREAD_ASK_H
#define MPROF_RT_WAIT_THREAD_ASK_H

#include "sys/base.h"

// Its number.
int mprof_ask_signal(void);
// 0, or an errno value, and then nobody can be asked.
int mprof_ask_begin(void);
// Asks thread tid for a slot of a round. 0 or -errno.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Takes the handler away, unless some of those that were asked may still get
// their signal; lost: those of them that have ended.
void mprof_ask_end(unsigned lost);
// In a forked child.
void mprof_ask_reset(void);

#endif // MPROF_RT_WAIT_THREAD_ASK_H
