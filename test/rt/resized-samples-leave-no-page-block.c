// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: when a sampled block is resized, its memory on a page boundary does
// not go back to the allocator. Otherwise a loop that allocates, resizes and
// frees would get this memory in every round, and each of these calls would
// call the runtime.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=1} %t
// RUN: %run_quiet{seed=2:heap_rate=65536} %t

#include "records.h"

static int is_on_page(const void *p) { return ((uintptr_t)p & 4095) == 0; }

int main(void) {
  enum { ROUNDS = 100000 };
  int on_page = 0;
  for (int i = 0; i < ROUNDS; i++) {
    char *p = malloc(20);
    on_page += is_on_page(p);
    p = realloc(p, 100 + (size_t)(i % 2) * 900);
    on_page += is_on_page(p);
    free(p);
  }
  // Only sampled blocks, which are one round in 100 at the smaller rate.
  CHECK(on_page < ROUNDS / 20);
  return 0;
}
