// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales numbers, with results as exact as those of floating point. The runtime
// uses no floating point: C requires that malloc raises no floating-point
// exception, a program may trap these exceptions, and its rounding mode would
// change the estimates.

#ifndef MPROF_RT_SYS_SCALE_H
#define MPROF_RT_SYS_SCALE_H

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

// Returns the square root of v, rounded to the nearest integer.
uint64_t mprof_square_root(mprof_u128 v);

// --- sampled blocks ---

// A block of `size` bytes is sampled with probability 1 - exp(-size / rate), so
// each sampled block represents 1 / (1 - exp(-size / rate)) blocks. (Go:
// scaleHeapSample)

// The unit of the factors: they are multiples of 1 / MPROF_SCALE_ONE.
#define MPROF_SCALE_ONE (UINT64_C(1) << 36)

// Returns the number of blocks that a sampled block of size bytes represents,
// times MPROF_SCALE_ONE. rate: mean number of bytes between samples.
uint64_t mprof_scale_factor(uint64_t size, uint64_t rate);

// Returns n * unit * factor / MPROF_SCALE_ONE, rounded down, at most INT64_MAX.
int64_t mprof_scale_up(uint64_t n, uint64_t unit, uint64_t factor);

// Returns the probability that a block of size bytes is not sampled, times
// 2^63.
uint64_t mprof_scale_missed(uint64_t size, uint64_t rate);

#endif // MPROF_RT_SYS_SCALE_H
