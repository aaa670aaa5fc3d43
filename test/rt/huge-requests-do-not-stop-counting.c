// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: requests that no allocator can serve, and products that overflow,
// fail as they do without MProf. Later allocations are counted as before.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t 1
// RUN: %run_quiet{seed=2} %t 524288

#define _GNU_SOURCE
#include "records.h"

#include <errno.h>
#include <stdint.h>

static void *volatile sink;
static volatile size_t huge[] = {
    (size_t)-(1L << 62), (size_t)-1000000, SIZE_MAX,
    SIZE_MAX / 2 + 1,    (size_t)-4096,    SIZE_MAX - 8};

static void fail(size_t n) {
  sink = malloc(n);
  CHECK(sink == NULL);
  sink = calloc(n, 3);
  CHECK(sink == NULL);
  sink = calloc(3, n);
  CHECK(sink == NULL);
  void *p = malloc(10);
  sink = realloc(p, n);
  CHECK(sink == NULL);
  sink = reallocarray(p, n, 5);
  CHECK(sink == NULL);
  free(p);
  CHECK(posix_memalign(&p, 64, n) == ENOMEM);
  CHECK(posix_memalign(&p, 3, n) == EINVAL);
  CHECK(posix_memalign(&p, 3, 100000000) == EINVAL);
}

int main(int argc, char **argv) {
  int is_exact = atoi(argv[argc - 1]) == 1;
  for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
    fail(huge[i]);
    struct counted before = counted_of(3000);
    for (int k = 0; k < 10000; k++) {
      sink = malloc(3000);
      free(sink);
    }
    unsigned long long n = counted_of(3000).allocs - before.allocs;
    // 10000 * 3000 / 512 KiB = 57 are expected, with a standard deviation of
    // 7.6.
    CHECK(is_exact ? n == 10000 : n > 57 - 5 * 8 && n < 57 + 5 * 8);
  }
  return 0;
}
