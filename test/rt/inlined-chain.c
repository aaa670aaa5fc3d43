// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: three functions that are always inlined around malloc are all named,
// in order, by pprof and in the exit report.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: mv out.*.heap.pb.gz heap.pb.gz && mv out.*.txt report.txt
// RUN: %go tool pprof -traces -sample_index=alloc_space app heap.pb.gz \
// RUN:   | FileCheck %s
// RUN: FileCheck %s < report.txt
// CHECK: {{(in|B) +}}inner
// CHECK-NEXT: {{ }}middle
// CHECK-NEXT: {{ }}outer
// CHECK-NEXT: {{ }}caller
// CHECK-NEXT: {{ }}main

#include <stdlib.h>

void *volatile sink;

__attribute__((always_inline)) static inline void inner(size_t n) {
  sink = malloc(n);
}
__attribute__((always_inline)) static inline void middle(size_t n) {
  inner(n + 1);
}
__attribute__((always_inline)) static inline void outer(size_t n) {
  middle(n + 1);
}
__attribute__((noinline)) static void caller(void) {
  outer(5000);
  sink = NULL;
}
int main(void) {
  caller();
  return 0;
}
