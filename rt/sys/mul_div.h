// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic with results as exact as those of floating point. The runtime uses
// no floating point: C requires that malloc raises no floating-point exception,
// a program may trap these exceptions, and its rounding mode would change the
// estimates.

#ifndef MPROF_RT_SYS_MUL_DIV_H
#define MPROF_RT_SYS_MUL_DIV_H

#include "sys/base.h"

typedef unsigned __int128 mprof_u128;

// Returns min(v, INT64_MAX).
static inline int64_t mprof_int64(mprof_u128 v) {
  return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

// Returns (a * b + add) / d, rounded down, or UINT64_MAX if the result is too
// large or d is 0. The division is done here, because the compiler would call
// a function of its own library for it.
static inline uint64_t mprof_mul_div(uint64_t a, uint64_t b, uint64_t d,
                                     uint64_t add) {
  const mprof_u128 n = (mprof_u128)a * b + add;
  uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n;
  if (high >= d)
    return UINT64_MAX;
  if (high == 0)
    return low / d;
  for (int i = 0; i < 64; i++) {
    const bool is_above = high >> 63;
    high = high << 1 | low >> 63;
    low <<= 1;
    if (is_above || high >= d) {
      high -= d;
      low |= 1;
    }
  }
  return low;
}

#endif // MPROF_RT_SYS_MUL_DIV_H
