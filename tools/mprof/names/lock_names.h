// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the names of locks that are global variables.

#ifndef MPROF_TOOL_LOCK_NAMES_H
#define MPROF_TOOL_LOCK_NAMES_H

#include "model/profile.h"
#include "names/places.h"

// MProf writes the address of a lock as the label "lock", and before it the
// name that the program has given the lock, as in "accounts (0x5581d0)". Writes
// the name of the global variable before an address without a name. Locks on
// the heap and on stacks keep only their address.
void lock_names_find(struct profile *p, const struct places *places);

// Returns the length of the name in a label "lock", or 0 if the lock has none.
size_t lock_name_length(const char *label);

#endif
