// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block far above the sampling rate is always sampled. A loop that
// allocates, writes and frees such a block uses the same memory again, and a
// block that grows is seldom moved, as without MProf. The memory of a freed
// block can be allocated again in blocks of another size.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=1} %t
// RUN: %run_quiet{seed=5} %t
// RUN: %run_quiet{seed=1} %t reserve

#include "records.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static long faults(void) {
  struct rusage u;
  CHECK_EQ(getrusage(RUSAGE_SELF, &u), 0);
  return u.ru_minflt;
}

static void loop(void) {
  enum { ROUNDS = 100, SIZE = 4 << 20 };
  long before = faults();
  for (int i = 0; i < ROUNDS; i++) {
    char *p = malloc(SIZE);
    CHECK(p != NULL);
    memset(p, i, SIZE);
    free(p);
  }
  // A fresh block has 1024 pages.
  CHECK(faults() - before < ROUNDS * 100L);
}

// The program frees a reserve when it has no memory left.
static void reserve(void) {
  enum { RESERVE = 8 << 20, UNIT = 16 << 10 };
  char *volatile kept = malloc(RESERVE);
  CHECK(kept != NULL);
  memset(kept, 1, RESERVE);
  long pages;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f && fscanf(f, "%ld", &pages) == 1);
  fclose(f);
  const rlim_t most = (rlim_t)pages * 4096 + (64 << 20);
  const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
  CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  void *volatile last;
  while ((last = malloc(UNIT)) != NULL)
    ;
  free(kept);
  for (int i = 0; i < RESERVE / UNIT / 2; i++) {
    last = malloc(UNIT);
    CHECK(last != NULL);
  }
}

static void growth(void) {
  enum { ROUNDS = 20, STEP = 64 << 10, STEPS = 128 };
  long before = faults();
  int moves = 0;
  for (int i = 0; i < ROUNDS; i++) {
    char *p = NULL;
    for (size_t n = 1; n <= STEPS; n++) {
      char *moved = realloc(p, n * STEP);
      CHECK(moved != NULL);
      moves += moved != p;
      p = moved;
      memset(p + (n - 1) * STEP, i, STEP);
    }
    free(p);
  }
  CHECK(moves < ROUNDS * 16);
  CHECK(faults() - before < ROUNDS * 1024L);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    if (getenv("MPROF_TEST_EMULATED") == NULL) // it ignores the limit
      reserve();
    return 0;
  }
  loop();
  growth();
  return 0;
}
