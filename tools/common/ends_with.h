// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells files apart by the end of their names.

#ifndef MPROF_TOOLS_ENDS_WITH_H
#define MPROF_TOOLS_ENDS_WITH_H

#include <stdbool.h>
#include <string.h>

static inline bool ends_with(const char *s, const char *suffix) {
  const size_t a = strlen(s), b = strlen(suffix);
  return a >= b && strcmp(s + a - b, suffix) == 0;
}

#endif
