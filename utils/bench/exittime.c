// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates one block below each of STACKS different stacks. Then prints the
// time at the end of main in nanoseconds of CLOCK_MONOTONIC. The time from then
// to the end of the process is the cost of exit.
//
// usage: exittime STACKS

#include "bench.h"

#include <unistd.h>

static void *blocks[1 << 10];

static void left(unsigned number, int depth);
static void right(unsigned number, int depth);

static inline __attribute__((always_inline)) void step(unsigned number,
                                                       int depth) {
  if (depth == 0)
    blocks[number] = malloc(64);
  else if (number >> (depth - 1) & 1)
    right(number, depth - 1);
  else
    left(number, depth - 1);
  bench_sink(blocks); // not a tail call
}

static __attribute__((noinline)) void left(unsigned number, int depth) {
  step(number, depth);
}

static __attribute__((noinline)) void right(unsigned number, int depth) {
  step(number, depth);
}

int main(int argc, char **argv) {
  long stacks = bench_arg(argc, argv, 1);
  for (long i = 0; i < stacks && i < 1 << 10; i++)
    left((unsigned)i, 10);
  char line[32];
  int len = snprintf(line, sizeof(line), "end %lld\n", bench_now());
  return write(1, line, (size_t)len) == len ? 0 : 1;
}
