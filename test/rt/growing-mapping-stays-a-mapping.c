// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: glibc maps memory for a large block until the program frees a mapping
// of at most 32 MB. A program that lets blocks grow beyond 32 MB by realloc
// frees no such mapping. So glibc maps memory for the blocks of all rounds,
// although the runtime moves each block to a page boundary.
//
// RUN: %clang -O2 -I%src/test/Inputs %s -o %t.plain
// RUN: %t.plain
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: for seed in 1 2 3 4 5; do %run_quiet{seed=$seed} %t || exit 1; done

#include "check.h"

#include <stdlib.h>

enum { START = 64 << 10, MAPPED = 256 << 10, MAX = 33 << 20, ROUNDS = 10 };

// Bit 1 of the word in front of a block of glibc: the block is a mapping. The
// assembler statement hides from the compiler where p comes from.
static int is_mapping(const void *p) {
  __asm__ volatile("" : "+r"(p));
  return (((const long *)p)[-1] & 2) != 0;
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    size_t n = START;
    char *p = malloc(n);
    CHECK(p != NULL);
    while (n < MAX) {
      p[n - 1] = (char)round;
      char *grown = realloc(p, n + n / 2);
      CHECK(grown != NULL);
      CHECK_EQ(grown[n - 1], round);
      p = grown;
      n += n / 2;
      CHECK(n < MAPPED || is_mapping(p));
    }
    free(p);
  }
  return 0;
}
