// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if RLIMIT_AS limits the address space, MProf itself uses only a small
// part of the limit. The program can allocate nearly the whole limit, and its
// allocations are counted.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: bash -c 'ulimit -v 1000000 && \
// RUN:   %run_quiet{heap_rate=1} %t'

#include "records.h"

static void *volatile sink;

int main(void) {
  sink = malloc(900u << 20);
  CHECK(sink != NULL);
  free(sink);
  EXPECT(900u << 20, 1, 1, 1);
  return 0;
}
