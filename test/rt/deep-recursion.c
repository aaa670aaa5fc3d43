// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a recorded stack has at most stack_depth frames. Allocations with
// deeper stacks are counted, too. With stack_depth=0 nothing is recorded.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t 128
// RUN: %run_quiet{heap_rate=1:stack_depth=32} %t 32
// RUN: %run_quiet{heap_rate=1:stack_depth=1024} %t 1024
// RUN: %run_quiet{heap_rate=1:stack_depth=0} %t 0

#include "records.h"

static void *volatile sink;

__attribute__((noinline)) static int recurse(int n) {
  if (n == 0) {
    sink = malloc(1111);
    return 1;
  }
  volatile int below = recurse(n - 1); // no tail call
  return below + 1;
}

int main(int argc, char **argv) {
  size_t depth = (size_t)atoi(argv[argc - 1]);
  recurse(2000);
  struct counted c = counted_of(1111);
  CHECK(c.max_depth == depth);
  CHECK(c.allocs == (depth != 0));
  return 0;
}
