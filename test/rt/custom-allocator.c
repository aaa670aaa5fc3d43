// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls of functions marked mprof_alloc, mprof_realloc and mprof_free
// are counted as allocations and frees of the callers, by requested size. With
// heap_rate=1 the counts are exact. In sampled mode, each counted allocation
// has its counted free. Calls of malloc inside the marked functions are not
// counted.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t 1
// RUN: %run_quiet{seed=5} %t 0

#include "records.h"

#include <string.h>

__attribute__((mprof_alloc(1, 2), noinline)) static void *
pool_alloc(size_t size, unsigned count) {
  char *p = malloc(size * count + 24);
  return p ? p + 24 : NULL; // 8 bytes off the alignment of malloc
}

__attribute__((mprof_free(1), noinline)) static void pool_free(void *p) {
  free((char *)p - 24);
}

__attribute__((mprof_realloc(1, 2), noinline)) static void *
pool_realloc(void *p, size_t size) {
  if (size > 1 << 30)
    return NULL;
  char *q = realloc((char *)p - 24, size + 24);
  return q ? q + 24 : NULL;
}

static void *volatile sink;

int main(int argc, char **argv) {
  int is_exact = argc > 1 && argv[1][0] == '1';
  for (int i = 0; i < 20000; i++) {
    sink = pool_alloc(121, 3);
    sink = pool_realloc(sink, 1201);
    CHECK(pool_realloc(sink, (size_t)1 << 40) == NULL);
    pool_free(sink);
  }
  struct counted a = counted_of(363), b = counted_of(1201);
  CHECK(a.allocs == a.frees && b.allocs == b.frees);
  CHECK(a.allocs > 0 && b.allocs > 0);
  if (is_exact) {
    EXPECT(363, 1, 20000, 20000);
    EXPECT(1201, 1, 20000, 20000);
    EXPECT(363 + 24, 0, 0, 0);
    EXPECT(1201 + 24, 0, 0, 0);
  }
  return 0;
}
