// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: allocations in a callback of libc's qsort, which keeps no frame
// pointers, are counted with the whole stack.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: FileCheck %s < out.*.txt
// CHECK-LABEL: allocated
// CHECK: in compare
// CHECK: in main
// CHECK-NOT: [truncated]

#include "records.h"

static void *volatile sink;
static unsigned calls;

static int compare(const void *a, const void *b) {
  calls++;
  free(sink = malloc(901));
  return *(const int *)a - *(const int *)b;
}

int main(void) {
  static int v[2000];
  for (int i = 0; i < 2000; i++)
    v[i] = i * 7919 % 2000;
  qsort(v, 2000, sizeof(v[0]), compare);
  CHECK(counted_of(901).allocs == calls);
  CHECK(counted_of(901).frees == calls);
  return 0;
}
