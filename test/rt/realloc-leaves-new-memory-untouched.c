// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a sampled realloc makes a block much larger and moves it to a page
// boundary. The block keeps its contents, and its new pages take no memory
// until the program writes to them.
//
// RUN: %mprof_clang -fmprof -O1 -fno-builtin -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=3} %t

#include "records.h"

#include <string.h>
#include <sys/resource.h>

static long resident_kb(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_maxrss;
}

int main(void) {
  enum { HAD = 50000, SIZE = 1 << 30 };
  char *p = malloc(HAD);
  for (int i = 0; i < HAD; i++)
    p[i] = (char)(i / 4096 % 2 == 0 ? i % 7 : 0); // including pages of zeros
  long before = resident_kb();
  p = realloc(p, SIZE);
  CHECK(p && ((size_t)p & 4095) == 0);
  CHECK(resident_kb() - before < 64 << 10);
  for (int i = 0; i < HAD; i++)
    CHECK(p[i] == (char)(i / 4096 % 2 == 0 ? i % 7 : 0));
  CHECK(p[SIZE - 1] == 0);
  free(p);
  EXPECT(SIZE, 1, 1, 1);
  return 0;
}
