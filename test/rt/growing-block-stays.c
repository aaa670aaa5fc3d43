// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program lets a block grow by realloc, frees it, and does the same
// again. The sampled block is moved to a page boundary once. After that, the
// block grows in place, and each round uses the memory of the round before, as
// without MProf. The block keeps its contents.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: for seed in 1 3 5 8 9; do %run_quiet{seed=$seed} %t || exit 1; done
// RUN: for seed in 1 2 9; do %run_quiet{seed=$seed} %t steps || exit 1; done

#include "records.h"

#include <string.h>
#include <sys/resource.h>

enum { MAX = 8 << 20, STEP = 64 << 10, WARM = 5, ROUNDS = 60 };

static long faults(void) {
  struct rusage u;
  CHECK_EQ(getrusage(RUSAGE_SELF, &u), 0);
  return u.ru_minflt;
}

static int moves;

static void grow(int round, int by_steps) {
  unsigned char *p = NULL;
  size_t had = 0;
  for (size_t n = by_steps ? STEP : 1024; n <= MAX;
       n = by_steps ? n + STEP : n * 2) {
    unsigned char *moved = realloc(p, n);
    CHECK(moved != NULL);
    CHECK(had == 0 || (moved[0] == round && moved[had - 1] == round));
    // A small block grows by moving through the holes of the heap.
    moves += had >= STEP && moved != p;
    p = moved;
    memset(p + had, round, n - had);
    had = n;
  }
  free(p);
}

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < WARM; i++)
    grow(i, argc > 1);
  const long before = faults();
  moves = 0;
  for (int i = 0; i < ROUNDS; i++)
    grow(i, argc > 1);
  CHECK(moves <= 2 * ROUNDS);
  // A fresh block has 2048 pages.
  CHECK(faults() - before < ROUNDS * 32L);
  return 0;
}
