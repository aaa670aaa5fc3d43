// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that stop at the largest number. A hostile file may have any values.

#ifndef MPROF_TOOLS_SATURATE_H
#define MPROF_TOOLS_SATURATE_H

#include <stdint.h>

static inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

static inline void add_to(int64_t *sum, int64_t value) {
  *sum = saturating_add(*sum, value);
}

// Returns the absolute value.
static inline int64_t size_of(int64_t value) {
  return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

#endif
