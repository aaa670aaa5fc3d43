// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates one block below each of STACKS different stacks. Then prints the
// time at the end of main in nanoseconds of CLOCK_MONOTONIC. The time from then
// to the end of the process is the cost of exit.
//
// usage: exittime STACKS

#include "stacks.h"

#include <unistd.h>

static void *volatile blocks[1 << 10];

static void allocate(unsigned number) { blocks[number] = malloc(64); }

int main(int argc, char **argv) {
  long stacks = bench_arg(argc, argv, 1);
  for (long i = 0; i < stacks && i < 1 << 10; i++)
    stacks_call((unsigned)i, 10, allocate);
  char line[32];
  int len = snprintf(line, sizeof(line), "end %lld\n", bench_now());
  return write(1, line, (size_t)len) == len ? 0 : 1;
}
