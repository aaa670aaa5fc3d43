// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: for an allocator that is marked with attributes, the heapx profile
// counts resizes and temporary blocks (blocks that are freed before the
// thread's next allocation). With heap_rate=1, the counts are exact. Blocks of
// this allocator have no slack (bytes beyond the requested size).
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 %s -o app
// RUN: %run{heap_rate=1:heapx=1:log_path=p:report=0} ./app > truth
// RUN: %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((mprof_alloc(1), noinline)) static void *get(size_t size) {
  char *p = malloc(size + 24);
  return p ? p + 24 : NULL; // 8 bytes off the alignment of malloc
}

__attribute__((mprof_free(1), noinline)) static void put(void *p) {
  free((char *)p - 24);
}

__attribute__((mprof_realloc(1, 2), noinline)) static void *
resize(void *p, size_t size) {
  if (size > 1 << 30)
    return NULL;
  char *q = realloc((char *)p - 24, size + 24);
  return q ? q + 24 : NULL;
}

static void *volatile a, *volatile b;

int main(void) {
  enum { N = 1000 };
  int moved = 0;
  for (int i = 0; i < N; i++) {
    a = get(101);
    put(a);
    a = get(102);
    b = get(103);
    put(a);
    uintptr_t before = (uintptr_t)b;
    b = resize(b, i % 2 ? 2000 : 104);
    moved += (uintptr_t)b != before;
    a = resize(b, (size_t)1 << 40);
    if (a)
      return 1;
    put(b);
  }
  printf("101 temporary_objects=%d alloc_slack_space=0\n", N);
  printf("102 temporary_objects=0\n");
  printf("103 temporary_objects=%d in_place=%d moved=%d copied_space=%d\n", N,
         N - moved, moved, moved * 103);
  printf("104 temporary_objects=%d\n2000 temporary_objects=%d\n", N / 2, N / 2);
  return moved == 0 || moved == N;
}
