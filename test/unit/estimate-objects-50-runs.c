// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the estimated numbers of objects and bytes are unbiased for each mix
// of block sizes at one stack. Over 50 runs, their means are within 2 % of the
// true numbers. Each run is within 5 sigma.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#define TEST_OPTIONS "seed=11"
#include "core.h"

#include "bucket/bucket.h"
#include "heap/event.h"
#include "snapshot/snapshot.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <math.h>

enum { RUNS = 50, MOST = 1 << 18 };

static struct mprof_mem_sample samples[MOST];
static struct mprof_bucket *buckets[MOST];
static size_t hits[MOST];

static double uniform(double from, double to) {
  return from + (to - from) * (double)(mprof_thread_random() >> 11) * 0x1p-53;
}
static size_t random_size(char mix, double from, double to) {
  if (mix == 'c')
    return (size_t)from;
  return (size_t)(mix == 'u' ? uniform(from, to)
                             : exp(uniform(log(from), log(to))));
}

static int ascends(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return x < y ? -1 : x > y;
}

// Fills in one sample for each size. The buckets of all sizes have one stack.
static size_t fill(size_t n, uint64_t rate) {
  size_t len = 0;
  qsort(hits, n, sizeof(hits[0]), ascends);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || hits[i] != hits[i - 1]) {
      struct mprof_bucket *b = buckets[len];
      if (b == NULL)
        b = buckets[len] = calloc(1, sizeof(*b) + sizeof(mprof_pc));
      CHECK(b != NULL);
      b->size = hits[i];
      b->rate = (uint32_t)rate;
      b->stack_len = 1;
      b->stack[0] = 0x401000;
      samples[len++] = (struct mprof_mem_sample){.bucket = b};
    }
    samples[len - 1].allocs++;
  }
  return len;
}

// Relative errors and relative standard deviations of one run.
struct run {
  double objects, bytes, objects_sigma, bytes_sigma;
};

static struct run run(char mix, double from, double to, size_t n,
                      uint64_t rate) {
  size_t n_hits = 0;
  double bytes = 0, var = 0, var_bytes = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t size = random_size(mix, from, to);
    const double p = 1 - exp(-(double)size / (double)rate);
    bytes += (double)size;
    var += (1 - p) / p;
    var_bytes += (double)size * (double)size * (1 - p) / p;
    uint64_t rate_of_sample;
    if (site_asks(size) && mprof_sample_hit(size, &rate_of_sample)) {
      CHECK(n_hits < MOST);
      hits[n_hits++] = size;
    }
  }
  struct mprof_mem_snapshot s = {.samples = samples, .len = fill(n_hits, rate)};
  CHECK_EQ(mprof_estimate_objects(&s), 0);
  double got = 0, got_bytes = 0;
  for (size_t i = 0; i < s.len; i++) {
    const struct mprof_mem_estimate e = mprof_mem_scale(&samples[i]);
    got += (double)e.alloc_objects;
    got_bytes += (double)e.alloc_bytes;
  }
  return (struct run){.objects = got / (double)n - 1,
                      .bytes = got_bytes / bytes - 1,
                      .objects_sigma = sqrt(var) / (double)n,
                      .bytes_sigma = sqrt(var_bytes) / bytes};
}

static void check(char mix, double from, double to, size_t n, uint64_t rate) {
  double objects = 0, bytes = 0;
  CHECK(mprof_guard_enter()); // as callers of the runtime do
  mprof_sample_set_rate(rate);
  mprof_guard_leave();
  for (int i = 0; i < RUNS; i++) {
    const struct run r = run(mix, from, to, n, rate);
    // Rounding the sum adds an error of up to one object.
    CHECK(fabs(r.objects) < 5 * r.objects_sigma + 1 / (double)n);
    CHECK(fabs(r.bytes) < 5 * r.bytes_sigma + 1 / (double)n);
    objects += r.objects / RUNS;
    bytes += r.bytes / RUNS;
  }
  printf("%c %.0f..%.0f at %llu: objects %+.4f, bytes %+.4f\n", mix, from, to,
         (unsigned long long)rate, objects, bytes);
  CHECK(fabs(objects) < 0.02);
  CHECK(fabs(bytes) < 0.02);
}

int main(void) {
  check('c', 16, 16, 60000, 2000);
  check('c', 364000, 364000, 1500, 524288);
  check('u', 364000, 388000, 1500, 524288);
  check('u', 100000, 900000, 3000, 524288);
  check('u', 16, 2e6, 3000, 524288);
  check('u', 16, 2e6, 3000, 2000);
  check('l', 1000, 2e6, 40000, 524288);
  check('l', 16, 2e6, 200000, 65536);
  check('l', 16, 2e6, 20000, 2000);
  return 0;
}
