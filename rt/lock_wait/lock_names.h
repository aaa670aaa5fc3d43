// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names that the program has given to its locks with mprof_name_lock.
// Reports show the name and the address of a lock. If a lock has no name,
// reports show only its address. A forked child keeps the names, because it has
// the same locks as its parent.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_NAMES_H
#define MPROF_RT_LOCK_WAIT_LOCK_NAMES_H

#include "sys/base.h"

struct mprof_text;

#define MPROF_LOCK_NAME 64 // size of a name in bytes, including the final 0

// Copies the name of the lock at address, and returns true. Returns false if
// the lock has no name; takes names_lock only if any lock has one.
bool mprof_lock_name(uintptr_t address, char name[MPROF_LOCK_NAME]);
// Appends the text for the lock at address to t. The text is "NAME (0x7f...)",
// or "0x7f..." if the lock has no name. Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
// Resets names_lock in a forked child, and keeps the names.
void mprof_lock_names_reset(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_NAMES_H
