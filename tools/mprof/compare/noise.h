// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates with errors, and how far chance alone moves them.

#ifndef MPROF_TOOL_NOISE_H
#define MPROF_TOOL_NOISE_H

#include <stdbool.h>
#include <stddef.h>

struct estimate {
  double value;
  double variance; // of the value by sampling; 0 if the value is exact
  // The variance of the value as its files show it, by their differences. Valid
  // if there are at least two files.
  double spread;
  size_t files;
};

// Returns z such that a normal variable is more than z standard errors above
// its mean with this chance, 0 < chance < 1.
double noise_normal(double chance);

// How far chance moves an estimate from its mean.
struct noise {
  double error;  // standard error
  double margin; // in 1 % of cases, chance adds more than this to the mean
};

// Returns the noise of a value with these variances. The noise is that of
// sampling. If the files differ by more than sampling explains, the noise is
// the spread of the files. freedom: degrees of freedom of the spread, 0 if it
// is unknown.
struct noise noise_of(double variance, double spread, size_t freedom);
// Returns the noise of b - factor * a.
struct noise noise_of_difference(const struct estimate *a, double factor,
                                 const struct estimate *b);

#endif
