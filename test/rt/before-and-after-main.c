// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: allocations in constructors before main, and in exit handlers and
// destructors after it, are counted.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t

#include "records.h"

#include <unistd.h>

static void *volatile before, *volatile sink;

__attribute__((constructor(102))) static void early(void) {
  before = malloc(301);
  sink = malloc(302);
}

static void at_exit_handler(void) { free(before); }

__attribute__((destructor(102))) static void late(void) {
  sink = malloc(303);
  struct counted c = counted_of(301);
  if (c.allocs != 1 || c.frees != 1 || counted_of(302).allocs != 1 ||
      counted_of(303).allocs != 1)
    _exit(1);
}

int main(void) {
  EXPECT(301, 1, 1, 0);
  return atexit(at_exit_handler);
}
