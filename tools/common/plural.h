// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of messages that depend on a number.

#ifndef MPROF_TOOLS_PLURAL_H
#define MPROF_TOOLS_PLURAL_H

#include <stdint.h>

// Returns the ending of a noun: "1 stack", "2 stacks".
static inline const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

// Returns the verb.
static inline const char *is_or_are(uint64_t n) {
  return n == 1 ? "is" : "are";
}

#endif
