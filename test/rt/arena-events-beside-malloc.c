// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the optimizer, for which malloc changes no other memory, does not
// lose the bytes that malloc takes off the countdown between two events of an
// arena. Both kinds of blocks are sampled as often as they should be.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=5} %t

#include "records.h"

static char memory[1000];
static void *volatile sink;

int main(void) {
  for (int i = 0; i < 50000; i++) {
    mprof_arena_alloc_event(memory, memory, 200);
    void *p = malloc(1999);
    mprof_arena_alloc_event(memory, memory + 500, 200);
    sink = p;
    mprof_arena_reset(memory);
    free(p);
  }
  // 50000 * 1999 / 512 KiB = 191 are expected, with a standard deviation of 14;
  // of the arena's blocks 100000 * 200 / 512 KiB = 38, with 6.
  unsigned long long own = counted_of(1999).allocs;
  unsigned long long of_arena = counted_of(200).allocs;
  CHECK(own > 191 - 70 && own < 191 + 70);
  CHECK(of_arena > 38 - 30 && of_arena < 38 + 30);
  return 0;
}
