// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value over time in little memory: its highest value in each of up to 128
// steps of equal length. When the steps are used up, each two become one, so
// that the highest value of all time stays.

#ifndef MPROF_RT_BUCKET_CURVE_H
#define MPROF_RT_BUCKET_CURVE_H

#include "sys/base.h"

enum {
  MPROF_CURVE_STEPS = 128, // even
  MPROF_CURVE_SHIFT = 20   // of the first steps: 0.3 to 44 ms
};

// Zeros are an empty curve. The caller guards it.
struct mprof_curve {
  uint64_t begin;  // in ticks; 0: at the first change
  unsigned len;    // number of steps; 0: no change yet
  unsigned longer; // how often two steps became one
  int64_t highest[MPROF_CURVE_STEPS];
};

// Adds a change of the value.
// now: the time in ticks (clock.h)
void mprof_curve_add(struct mprof_curve *c, uint64_t now, int64_t before,
                     int64_t after);

// A step has 2^shift ticks.
static inline unsigned mprof_curve_shift(const struct mprof_curve *c) {
  return MPROF_CURVE_SHIFT + c->longer;
}
// Returns the length of a step in ticks.
static inline uint64_t mprof_curve_step(const struct mprof_curve *c) {
  return UINT64_C(1) << mprof_curve_shift(c);
}

#endif // MPROF_RT_BUCKET_CURVE_H
