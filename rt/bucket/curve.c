// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps a value over time. See curve.h.

#include "bucket/curve.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Makes each two steps one.
static void join_steps(struct mprof_curve *c) {
  for (unsigned i = 0; i < c->len; i++)
    c->highest[i / 2] =
        i % 2 == 0 ? c->highest[i] : larger(c->highest[i / 2], c->highest[i]);
  c->len = (c->len + 1) / 2;
  c->longer++;
}

void mprof_curve_add(struct mprof_curve *c, uint64_t now, int64_t before,
                     int64_t after) {
  if (c->begin == 0)
    c->begin = now;
  // Other processors may be some ticks behind.
  const uint64_t passed = now > c->begin ? now - c->begin : 0;
  while (passed >> mprof_curve_shift(c) >= MPROF_CURVE_STEPS)
    join_steps(c);
  const uint64_t step = passed >> mprof_curve_shift(c);
  while (c->len <= step)
    c->highest[c->len++] = before;
  c->highest[step] = larger(c->highest[step], after);
}
