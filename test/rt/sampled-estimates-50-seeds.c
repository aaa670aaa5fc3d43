// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the default sampling period of 512 KiB, the estimate of the
// allocated bytes is unbiased. Over 50 seeds its mean is within 2 % of the
// truth, and each run is within 5 sigma.
//
// Under an emulator there are 20 seeds.
//
// RUN: %mprof_clang -fmprof -O2 %s -lm -o %t
// RUN: seeds=%if emulated %{20%} %else %{50%}
// RUN: for i in $(seq 1 $seeds); do \
// RUN:   %run_quiet{seed=$i} %t || exit 1; done > %t.out
// RUN: awk -v seeds=$seeds '{ n++; sum += $1; d = $1 - 1; if (d < 0) d = -d; \
// RUN:        if (d > 5 * $2) { print "run " n " off: " $0; bad = 1 } } \
// RUN:      END { mean = sum / n; print n, mean; \
// RUN:        d = mean < 1 ? 1 - mean : mean - 1; \
// RUN:        exit bad || n != seeds || d > 0.02 }' %t.out

#include <math.h>
#include <mprof/mprof.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t sizes[] = {16, 200, 1024, 5000, 60000, 700000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
static const double each = 80e6; // bytes of each size
static void *volatile sink;

static void add(const struct mprof_mem_bucket *b, void *arg) {
  double p = 1 - exp(-(double)b->size / (double)b->rate);
  *(double *)arg += (double)b->allocs * (double)b->size / p;
}

int main(void) {
  double truth = 0, variance = 0, estimate = 0;
  for (size_t i = 0; i < SIZES; i++) {
    size_t n = (size_t)(each / (double)sizes[i]);
    for (size_t k = 0; k < n; k++) {
      sink = malloc(sizes[i]);
      free(sink);
    }
    // n trials of probability p; each hit counts as size / p.
    double size = (double)sizes[i], p = 1 - exp(-size / 524288);
    truth += (double)n * size;
    variance += (double)n * size * size * (1 - p) / p;
  }
  mprof_next_cycle();
  mprof_cycle_flush();
  mprof_cycle_post_sweep();
  mprof_iterate_mem(add, &estimate);
  printf("%.6f %.6f\n", estimate / truth, sqrt(variance) / truth);
  return 0;
}
