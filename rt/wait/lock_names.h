// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for what a profile has only addresses of: locks that the program has
// named, and the hooked functions that stacks of waits begin with.

#ifndef MPROF_RT_WAIT_LOCK_NAMES_H
#define MPROF_RT_WAIT_LOCK_NAMES_H

#include "sys/message.h"

#define MPROF_LOCK_NAME 64 // bytes of a name with its 0

// What is shown of the lock at address: "0x7f...", or if it has a name
// "NAME (0x7f...)". Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
void mprof_lock_names_reset(void);

#endif // MPROF_RT_WAIT_LOCK_NAMES_H
