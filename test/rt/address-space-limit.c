// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: under a limit on address space the profiler takes only a small part
// of it. The program gets as much memory as it would without MProf, and its
// allocations are still counted.
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
