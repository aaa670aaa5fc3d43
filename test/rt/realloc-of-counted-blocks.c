// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in sampled mode a block keeps its contents through every resize,
// whether or not the block is sampled. The free of each sampled block is
// counted.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=11} %t
// RUN: %run_quiet{seed=12:heap_rate=65536} %t
// RUN: %run_quiet{seed=13:heap_rate=1000} %t

#include "records.h"

#include <string.h>

struct sums {
  unsigned long long allocs, frees;
};
static void add(const struct mprof_mem_bucket *b, void *arg) {
  struct sums *s = arg;
  s->allocs += b->allocs;
  s->frees += b->frees;
}

static unsigned random_state = 1;
static unsigned next_random(void) {
  return random_state = random_state * 1103515245 + 12345;
}

static int has(const unsigned char *p, size_t n, unsigned char c) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != c)
      return 0;
  return 1;
}

int main(void) {
  enum { BLOCKS = 64 };
  static unsigned char *block[BLOCKS];
  static size_t size[BLOCKS];
  for (unsigned k = 0; k < 60000; k++) {
    unsigned i = (next_random() >> 16) % BLOCKS;
    unsigned char c = (unsigned char)i;
    size_t n = 1 + (next_random() >> 8) % (k % 100 == 0 ? 400000 : 5000);
    CHECK(has(block[i], size[i], c));
    if (k % 7 == 0) {
      free(block[i]);
      block[i] = calloc(1, n);
      CHECK(has(block[i], n, 0));
    } else {
      size_t keep = size[i] < n ? size[i] : n;
      block[i] = realloc(block[i], n);
      CHECK(has(block[i], keep, c));
    }
    memset(block[i], c, n);
    size[i] = n;
  }
  for (int i = 0; i < BLOCKS; i++)
    free(block[i]);
  struct sums s = {0, 0};
  mprof_next_cycle();
  mprof_cycle_flush();
  mprof_cycle_post_sweep();
  mprof_iterate_mem(add, &s);
  CHECK(s.allocs > 50);
  CHECK(s.allocs == s.frees);
  return 0;
}
