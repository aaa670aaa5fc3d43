// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the distance between samples is exponentially distributed, with the
// rate as mean. The mean and variance of a run with a fixed seed are within 5
// sigma. Results for extreme rates equal those of Go.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#include "core.h"

#include "heap/event.h"
#include "options/flags.h"
#include "thread/threads.h"

#include <math.h>

int main(void) {
  CHECK_EQ(mprof_sample_next(1, 12345), 0);
  CHECK_EQ(mprof_sample_next(0, 12345), 0);
  // q = 1 gives the shortest distance, q = 2^-26 the longest.
  CHECK_EQ(mprof_sample_next(524288, (1u << 26) - 1), 1);
  CHECK_EQ(mprof_sample_next(524288, 0), (int64_t)(26 * log(2) * 524288) + 1);
  mprof_flags.seed = 42;
  const double rate = 524288, n = 1000000;
  double sum = 0, squares = 0;
  for (int i = 0; i < (int)n; i++) {
    double x = (double)mprof_sample_next(
        (uint64_t)rate, (uint32_t)(mprof_thread_random() >> 38));
    sum += x;
    squares += x * x;
  }
  double mean = sum / n, variance = squares / n - mean * mean;
  // The standard deviation of an exponential distribution equals its mean. The
  // standard deviation of its sample variance is sqrt(8 / n) of the variance.
  CHECK(fabs(mean - rate) < 5 * rate / sqrt(n));
  CHECK(fabs(variance / rate / rate - 1) < 5 * sqrt(8 / n));
  return 0;
}
