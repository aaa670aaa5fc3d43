// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a profile in pprof's format has the first line of each function, also
// of inlined functions.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 %s -o app
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: %go tool pprof -raw x.*.heap.pb.gz | FileCheck %s

#include <stdlib.h>

static void *volatile sink;

static inline __attribute__((always_inline)) void make_one(void) {
  sink = malloc(300000);
  // CHECK: make_one {{.*}}.c:[[#@LINE-1]]{{(:0)?}} s=[[#@LINE-2]]
}

static inline __attribute__((always_inline)) void make_two(void) {
  sink = NULL;
  make_one();
  // CHECK-NEXT: make_two {{.*}}.c:[[#@LINE-1]]{{(:0)?}} s=[[#@LINE-3]]
}

int main(void) {
  make_two();
  // CHECK-NEXT: main {{.*}}.c:[[#@LINE-1]]{{(:0)?}} s=[[#@LINE-2]]
  return 0;
}
