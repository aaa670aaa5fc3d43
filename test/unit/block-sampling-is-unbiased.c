// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: sampling does not prefer long waits. A wait shorter than the rate is
// chosen with probability (ticks + 1) / rate and then counts as rate ticks.
// Many short waits therefore add up to as many ticks as a few long waits of
// equal total time.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "process/process.h"
#include "sys/tls.h"

#include "core.h"

#include <math.h>

#define RATE 100000

static const uint64_t seeds[] = {1,  2,  3,   5,   8,   13,  21,  34,
                                 55, 89, 144, 233, 377, 610, 987, 1597};
enum { SEEDS = sizeof(seeds) / sizeof(seeds[0]) };

static double within(double value, double expected, double sigma) {
  double off = fabs(value - expected) / sigma;
  if (off > 5) {
    fprintf(stderr, "%.0f is %.1f sigma from %.0f\n", value, off, expected);
    exit(1);
  }
  return value;
}

static struct mprof_bucket b;

static uint64_t cycles_of(int events, uint64_t cycles) {
  memset(&b, 0, sizeof(b));
  for (int i = 0; i < events; i++)
    if (mprof_block_sampled(cycles, RATE))
      mprof_block_add(&b, cycles, RATE);
  return atomic_load(&b.wait.cycles);
}

static double count(void) {
  return (double)atomic_load(&b.wait.count) / (double)MPROF_COUNT_ONE;
}

// Compares 100,000 waits of a tenth of the rate with 10,000 waits of the whole
// rate: both take 10^9 ticks. All long waits are chosen. Of the short waits
// 10,001 are expected to be chosen, with a standard deviation of sqrt(1e5 * 0.1
// * 0.9) = 95, or 0.95 %. The sums may differ by 2 %: about 2 sigma for one
// seed, but 8 sigma for the mean of 16. The surplus 1 of 10,001 is 0.01 %.
static void short_and_long(void) {
  double sum = 0, counts = 0;
  for (int i = 0; i < SEEDS; i++) {
    mprof_tls.random = seeds[i];
    double p = (RATE / 10 + 1.0) / RATE;
    double cycles = (double)cycles_of(100000, RATE / 10);
    sum += within(cycles, 100000 * p * RATE, RATE * sqrt(100000 * p * (1 - p)));
    counts += count();
    // Each chosen wait counts for 10.
    CHECK(fabs(count() - cycles / RATE * 10) < 0.001);
    CHECK_EQ(cycles_of(10000, RATE), 10000ll * RATE);
    CHECK_EQ(count(), 10000);
  }
  CHECK(fabs(sum / SEEDS - 1e9) < 0.02 * 1e9);
  CHECK(fabs(counts / SEEDS - 100000) < 0.02 * 100000);
}

static void probability(uint64_t cycles, double p) {
  enum { N = 200000 };
  int hits = 0;
  for (int i = 0; i < N; i++)
    hits += mprof_block_sampled(cycles, 100);
  if (p == 0 || p == 1)
    CHECK_EQ(hits, p * N);
  else
    within(hits, N * p, sqrt(N * p * (1 - p)));
}

int main(void) {
  CHECK(mprof_process_ready());
  short_and_long();
  mprof_tls.random = 42;
  // The 1 in (ticks + 1) amounts to 50 sigma here.
  probability(1, 0.02);
  probability(9, 0.1);
  probability(49, 0.5);
  probability(98, 0.99);
  probability(99, 1);
  probability(100, 1);
  probability(1000, 1);
  for (int i = 0; i < 1000; i++) {
    CHECK(!mprof_block_sampled(UINT64_MAX, 0));
    CHECK(mprof_block_sampled(1, 1));
  }

  // A wait longer than the rate counts as one wait of its own duration.
  memset(&b, 0, sizeof(b));
  mprof_block_add(&b, 700, 100);
  mprof_block_add(&b, 25, 100);
  CHECK_EQ(count(), 1 + 4);
  CHECK_EQ(atomic_load(&b.wait.cycles), 700 + 100);

  // At a mutex fraction of n, a chosen contention counts as n contentions.
  memset(&b, 0, sizeof(b));
  mprof_mutex_add(&b, 700, 7);
  mprof_mutex_add(&b, 50, 1);
  CHECK_EQ(count(), 8);
  CHECK_EQ(atomic_load(&b.wait.cycles), 4950);
  return 0;
}
