// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program is linked with --wrap=malloc, its own wrapper is called
// for each malloc. The program's allocations are also counted. This holds for
// dynamic and static programs.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for how in "" -static; do \
// RUN:   %mprof_clang -fmprof -O1 -fno-builtin -I%src/test/Inputs $how %s \
// RUN:     -Wl,--wrap=malloc,--wrap=free -o app || exit 1; \
// RUN:   %run_quiet{heap_rate=1} ./app || exit 1; done

#include "records.h"

enum { HEAD = 64 };
void *__real_malloc(size_t n);
void __real_free(void *p);
static int mallocs, frees;

void *__wrap_malloc(size_t n) {
  mallocs++;
  char *p = __real_malloc(n + HEAD);
  return p ? p + HEAD : NULL;
}
void __wrap_free(void *p) {
  frees++;
  if (p)
    __real_free((char *)p - HEAD);
}

static void *volatile p;

int main(void) {
  mallocs = frees = 0; // ignores libc's own calls at start
  for (int i = 0; i < 10; i++) {
    p = malloc(777);
    free(p);
  }
  CHECK(mallocs == 10 && frees == 10);
  EXPECT(777, 1, 10, 10);
  return 0;
}
