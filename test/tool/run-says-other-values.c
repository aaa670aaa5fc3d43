// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: of a program that has freed all its memory, mprof run and mprof diff
// show what it had allocated, and say so.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %mprof run -o out --heap-rate=1 ./app 2>&1 | FileCheck %s
// CHECK: inuse_space is 0, so these are the values of alloc_space:
// CHECK-NEXT: alloc_space of ./app
// RUN: %mprof diff out out 2>&1 | FileCheck %s --check-prefix=DIFF
// DIFF: mprof diff: note: inuse_space is 0 on both sides, so alloc_space is compared

#include <stdlib.h>

static void *volatile block;

int main(void) {
  block = malloc(1000);
  free(block);
  return 0;
}
