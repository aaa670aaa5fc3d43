// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that resizes large blocks and writes few of their bytes has
// about as much resident memory as without MProf, although the runtime moves
// each counted block to a page boundary.
//
// RUN: %clang -O2 -I%src/test/Inputs %s -o %t.plain && %t.plain
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: for seed in 1 2 3; do %run_quiet{seed=$seed} %t || exit 1; done

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 400, BYTES = 1 << 20, LIMIT_KB = 64 << 10 };

static char *volatile blocks[BLOCKS];

static long resident_kb(void) {
  long all = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f != NULL && fscanf(f, "%ld %ld", &all, &resident) == 2);
  fclose(f);
  return resident * 4;
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(BYTES);
    CHECK(blocks[i] != NULL);
    blocks[i] = realloc(blocks[i], 2 * BYTES);
    CHECK(blocks[i] != NULL);
    blocks[i][0] = 1;
  }
  CHECK(resident_kb() < LIMIT_KB);
  return 0;
}
