// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if RLIMIT_DATA limits the data size, MProf itself uses only a small
// part of the limit. The program gets the memory that it gets without MProf,
// and its first allocations are counted.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: bash -c 'ulimit -d 131072 && \
// RUN:   %run_quiet{heap_rate=1} %t'

#include "records.h"

static void *volatile sink;

int main(void) {
  sink = malloc(60u << 20);
  EXPECT(60u << 20, 1, 1, 0);
  // The profiler would need more memory for these blocks than the limit leaves.
  for (int i = 0; i < 1200000; i++) {
    sink = malloc(24);
    CHECK(sink != NULL);
  }
  sink = malloc(23u << 20);
  CHECK(sink != NULL);
  return 0;
}
