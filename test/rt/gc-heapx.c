// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an object of libgc is temporary in the heapx profile if the program
// frees it before the next allocation. Objects that a collection frees are not
// temporary. The profile also counts resizes by GC_realloc. Objects of libgc
// have no slack (bytes beyond the requested size).
//
// REQUIRES: libgc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app -lgc
// RUN: %run{heap_rate=1:heapx=1:log_path=p:report=0} ./app > truth
// RUN: %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth

#include "gc.h"

#include <stdint.h>

static void *volatile a, *volatile b;

int main(void) {
  enum { N = 100 };
  int moved = 0;
  start();
  for (int i = 0; i < N; i++) {
    a = GC_MALLOC(101);
    GC_FREE(a);
    a = GC_MALLOC(102);
    b = GC_MALLOC(103);
    GC_FREE(a);
    a = malloc(104); // in another heap, but an allocation
    GC_FREE(b);
    free(a);
    b = GC_MALLOC(105);
    uintptr_t before = (uintptr_t)b;
    b = GC_REALLOC(b, i % 2 ? 300 : 106);
    moved += (uintptr_t)b != before;
    b = NULL;
    a = GC_MALLOC(107);
    a = NULL;
  }
  collect();
  mprof_next_cycle();
  mprof_next_cycle();
  printf("101 temporary_objects=%d alloc_slack_space=0\n", N);
  printf("102 temporary_objects=0\n103 temporary_objects=0\n");
  printf("104 temporary_objects=%d\n", N);
  printf("105 temporary_objects=%d in_place=%d moved=%d copied_space=%d\n", N,
         N - moved, moved, 105 * moved);
  printf("106 temporary_objects=0\n300 temporary_objects=0\n");
  printf("107 temporary_objects=0\n");
  return moved == 0 || moved == N;
}
