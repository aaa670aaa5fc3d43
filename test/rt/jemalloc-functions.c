// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: jemalloc's own functions, such as mallocx, are counted as malloc is.
// A block of malloc may be freed by jemalloc's functions, and the reverse. If a
// sampled block of malloc is freed with its requested size, jemalloc does not
// reuse the block for other requests of that size.
//
// REQUIRES: jemalloc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -ljemalloc -o app
// RUN: %run_quiet{heap_rate=1} ./app exact
// RUN: %run_quiet{heap_rate=65536:seed=7} ./app
// RUN: %mprof_clang -fmprof -fmprof-intercept -O1 -I%src/test/Inputs %s \
// RUN:   -ljemalloc -o app
// RUN: %run_quiet{heap_rate=1} ./app exact
// RUN: %run_quiet{heap_rate=65536:seed=7} ./app

#include "records.h"

#include <jemalloc/jemalloc.h>
#include <string.h>

#define BLOCKS 2000
static void *volatile blocks[BLOCKS];
static int is_exact;

static void *written(void *p, size_t size) {
  CHECK(p);
  return memset(p, 0x5a, size);
}

static void expect(int line, size_t size) {
  struct counted c = counted_of(size);
  if (c.allocs == c.frees &&
      (is_exact ? c.allocs == BLOCKS : c.allocs > 0 && c.allocs < BLOCKS))
    return;
  fprintf(stderr, "line %d: %llu allocs, %llu frees\n", line, c.allocs,
          c.frees);
  exit(1);
}

#define EACH(Size, Get, Drop)                                                  \
  do {                                                                         \
    const size_t n = (Size);                                                   \
    for (int i = 0; i < BLOCKS; i++)                                           \
      blocks[i] = written(Get, n);                                             \
    for (int i = 0; i < BLOCKS; i++)                                           \
      Drop;                                                                    \
    expect(__LINE__, n);                                                       \
  } while (0)

// A sampled block has a page of its own and is larger than its size class.
// Counts such blocks. There would be more of them than sampled blocks if
// jemalloc reused an earlier sampled block for its size class.
static void expect_true_sizes(size_t size) {
  unsigned long long larger = 0;
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = written(mallocx(size, 0), size);
    larger += sallocx(blocks[i], 0) != nallocx(size, 0);
  }
  CHECK(larger == (is_exact ? 0 : counted_of(size).allocs));
  for (int i = 0; i < BLOCKS; i++)
    dallocx(blocks[i], 0);
  expect(__LINE__, size);
}

int main(int argc, char **argv) {
  (void)argv;
  is_exact = argc > 1;
  EACH(1001, mallocx(n, 0), dallocx(blocks[i], 0));
  EACH(1002, mallocx(n, MALLOCX_ALIGN(64)),
       sdallocx(blocks[i], n, MALLOCX_ALIGN(64)));
  EACH(1003, mallocx(n, MALLOCX_ZERO), free(blocks[i]));
  EACH(1004, malloc(n), dallocx(blocks[i], 0));
  EACH(1005, malloc(n), sdallocx(blocks[i], n, 0));
  EACH(1006, rallocx(malloc(50), n, 0), free(blocks[i]));
  EACH(1007, realloc(mallocx(50, 0), n), sdallocx(blocks[i], n, 0));
  expect_true_sizes(1009);
  // The request cannot be served, so the block stays as and where it is.
  blocks[0] = mallocx(1008, 0);
  CHECK(rallocx(blocks[0], (size_t)1 << 62, 0) == NULL);
  dallocx(blocks[0], 0);
  if (is_exact)
    EXPECT(1008, 1, 1, 1);
  return 0;
}
