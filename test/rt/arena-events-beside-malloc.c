// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: malloc and mprof_arena_alloc_event subtract the sizes of blocks from
// one countdown, which ends at the next sample. The optimizer assumes that
// malloc changes no other memory. Nevertheless, what malloc subtracts between
// two arena events is not lost, so blocks of both kinds are sampled at the
// right rate.
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
  // Expected samples of malloc's blocks: 50000 * 1999 / 512 KiB = 191, with a
  // standard deviation of 14. Expected samples of the arena's blocks: 100000 *
  // 200 / 512 KiB = 38, with a standard deviation of 6.
  unsigned long long own = counted_of(1999).allocs;
  unsigned long long of_arena = counted_of(200).allocs;
  CHECK(own > 191 - 70 && own < 191 + 70);
  CHECK(of_arena > 38 - 30 && of_arena < 38 + 30);
  return 0;
}
