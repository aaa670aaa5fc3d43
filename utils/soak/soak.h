// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main loop of the programs of soak.sh: rounds until the time is over. Each
// round must have the right result.

#ifndef MPROF_SOAK_H
#define MPROF_SOAK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double soak_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Runs rounds for the number of seconds in the first argument, and prints the
// number of rounds. round returns whether its result was right.
static inline int soak_run(int argc, char **argv, int (*round)(void)) {
  const int seconds = argc == 2 ? atoi(argv[1]) : 0;
  if (seconds < 1) {
    fprintf(stderr, "usage: %s SECONDS\n", argv[0]);
    return 2;
  }
  const double end = soak_now() + seconds;
  long rounds = 0;
  for (; soak_now() < end; rounds++)
    if (!round()) {
      fprintf(stderr, "%s: round %ld has a wrong result\n", argv[0], rounds);
      return 1;
    }
  printf("%ld rounds\n", rounds);
  return 0;
}

// Does a small piece of work that takes some microseconds.
static inline unsigned long soak_work(unsigned long x) {
  for (int i = 0; i < 2000; i++)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

#endif // MPROF_SOAK_H
