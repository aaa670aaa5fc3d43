// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls a function below many different stacks.

#ifndef MPROF_BENCH_STACKS_H
#define MPROF_BENCH_STACKS_H

#include "bench.h"

typedef void stacks_leaf(unsigned number);

static void stacks_left(unsigned number, int depth, stacks_leaf *leaf);
static void stacks_right(unsigned number, int depth, stacks_leaf *leaf);

// Each of the lowest `depth` bits of the number chooses one of two callers.
static inline __attribute__((always_inline)) void
stacks_call(unsigned number, int depth, stacks_leaf *leaf) {
  if (depth == 0)
    leaf(number);
  else if (number >> (depth - 1) & 1)
    stacks_right(number, depth - 1, leaf);
  else
    stacks_left(number, depth - 1, leaf);
  bench_sink(&number); // not a tail call
}

static __attribute__((noinline)) void stacks_left(unsigned number, int depth,
                                                  stacks_leaf *leaf) {
  stacks_call(number, depth, leaf);
}

static __attribute__((noinline)) void stacks_right(unsigned number, int depth,
                                                   stacks_leaf *leaf) {
  stacks_call(number, depth, leaf);
}

#endif // MPROF_BENCH_STACKS_H
