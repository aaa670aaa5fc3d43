// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare/noise.h"

#include <math.h>

// The chance with which noise alone may break a budget that is just kept.
static const double CHANCE = 0.01;

// The chance that a normal variable is above z.
static double normal_tail(double z) { return erfc(z / sqrt(2)) / 2; }

// Returns the z at which the decreasing function `tail` has this value.
static double solve(double chance, double (*tail)(double z)) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; i++) {
    const double middle = (low + high) / 2;
    if (tail(middle) > chance)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

double noise_normal(double chance) { return solve(chance, normal_tail); }

// Student's t by the expansion of Cornish and Fisher, which is exact to 1 % for
// 3 degrees of freedom at a chance of 1 %. One and two degrees have closed
// forms. (Abramowitz and Stegun, 26.7.5)
static double student(double chance, size_t freedom) {
  const double p = 1 - chance, n = (double)freedom;
  if (freedom <= 1)
    return tan(M_PI * (p - 0.5));
  if (freedom == 2)
    return (2 * p - 1) / sqrt(2 * p * (1 - p));
  const double z = noise_normal(chance), z2 = z * z;
  const double g1 = (z2 + 1) * z / 4;
  const double g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
  const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
  const double g4 =
      ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
  return z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
}

// Returns whether the files of a side differ by more than sampling explains.
// ratio: the variance between files, by that of sampling. Without another cause
// it is above the limit in 1 % of cases. (the chi-squared quantile of Wilson
// and Hilferty)
static bool is_spread(double ratio, double freedom) {
  const double part = 2 / (9 * freedom);
  const double root = 1 - part + noise_normal(CHANCE) * sqrt(part);
  return ratio > root * root * root;
}

struct noise noise_of(double variance, double spread, size_t freedom) {
  if (freedom == 0 || spread <= 0 ||
      (variance > 0 && !is_spread(spread / variance, (double)freedom)))
    return (struct noise){sqrt(variance),
                          sqrt(variance) * noise_normal(CHANCE)};
  return (struct noise){sqrt(spread), sqrt(spread) * student(CHANCE, freedom)};
}

struct noise noise_of_difference(const struct estimate *a, double factor,
                                 const struct estimate *b) {
  const bool has_spread = a->files > 1 && b->files > 1;
  return noise_of(b->variance + factor * factor * a->variance,
                  b->spread + factor * factor * a->spread,
                  has_spread ? a->files + b->files - 2 : 0);
}
