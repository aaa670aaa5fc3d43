// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the name that a user probably meant, for messages about a wrong name.

#ifndef MPROF_TOOL_NEAREST_H
#define MPROF_TOOL_NEAREST_H

#include <stddef.h>

struct nearest {
  const char *wrong; // the wrong name
  size_t length;
  const char *name; // the nearest name so far, or NULL
  unsigned distance;
};

// Begins a search for the first `length` characters of wrong.
struct nearest nearest_begin(const char *wrong, size_t length);
// Compares a name. A name is never near if more than half of the characters of
// the wrong name would have to change.
void nearest_compare(struct nearest *n, const char *name);

#endif
