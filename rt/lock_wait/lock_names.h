// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that the program has given to its locks by mprof_name_lock, for
// output that otherwise shows only a lock's address. A name survives a fork:
// the child has the same locks.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_NAMES_H
#define MPROF_RT_LOCK_WAIT_LOCK_NAMES_H

#include "sys/message.h"

#define MPROF_LOCK_NAME 64 // bytes of a name, with the final 0

// Appends a lock to t: "NAME (0x7f...)", or "0x7f..." if the lock has no name.
// Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
// Resets names_lock in a forked child. The names stay.
void mprof_lock_names_reset(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_NAMES_H
