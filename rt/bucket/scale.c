// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of blocks that a sampled block represents. See scale.h.

#include "bucket/scale.h"

// Returns exp(-x) for x >= 0. Does not use libm, because a C program may be
// linked without libm. Computes 2^-k * exp(r), where r = k * ln(2) - x and
// |r| <= ln(2) / 2. The Taylor series computes exp(r).
static double exp_minus(double x) {
  const double ln2 = 0.6931471805599453;
  if (x > 700)
    return 0;
  uint64_t k = (uint64_t)(x / ln2 + 0.5);
  double r = (double)k * ln2 - x;
  double sum = 1, term = 1;
  for (int i = 1; i <= 15; i++) {
    term *= r / i;
    sum += term;
  }
  union {
    uint64_t bits;
    double value;
  } power = {.bits = (1023 - k) << 52};
  return sum * power.value;
}

double mprof_scale_factor(uint64_t size, uint64_t rate) {
  if (rate <= 1 || size == 0)
    return 1;
  return 1 / (1 - exp_minus((double)size / (double)rate));
}
