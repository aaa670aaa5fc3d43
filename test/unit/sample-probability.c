// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block of s bytes is sampled with probability 1 - exp(-s / rate).
// This holds within 5 sigma in a run with a fixed seed, for blocks far below,
// near and above the rate.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#define TEST_OPTIONS "seed=7:heap_rate=524288"
#include "core.h"

#include "heap/event.h"

#include <math.h>

static void check(size_t size, int n) {
  int hits = 0;
  for (int i = 0; i < n; i++) {
    uint64_t rate;
    if (site_asks(size) && mprof_sample_hit(size, &rate)) {
      CHECK_EQ(rate, 524288);
      hits++;
    }
  }
  double p = 1 - exp(-(double)size / 524288), expected = n * p;
  if (fabs(hits - expected) > 5 * sqrt(n * p * (1 - p))) {
    fprintf(stderr, "%zu bytes: %d of %d, expected %.1f\n", size, hits, n,
            expected);
    exit(1);
  }
}

int main(void) {
  check(64, 10000000);
  check(1024, 1000000);
  check(200000, 100000);
  check(524288, 100000);
  check(3000000, 100000);
  return 0;
}
