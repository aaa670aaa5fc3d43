// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report's stacks do not have a function that is marked
// mprof_wrapper, whether it is inlined or not. pprof drops the function because
// of the profile's drop_frames.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: FileCheck %s < out.*.txt
// RUN: %go tool pprof -traces -sample_index=alloc_space app out.*.heap.pb.gz \
// RUN:   > traces && FileCheck %s < traces
// CHECK-NOT: xmalloc
// CHECK-NOT: xinline
// CHECK: {{(in|B) +}}user
// CHECK-NEXT: {{ }}main
// CHECK-NOT: xmalloc
// CHECK-NOT: xinline

#include <stdlib.h>

static void *volatile sink;

__attribute__((mprof_wrapper, noinline)) static void *xmalloc(size_t n) {
  void *p = malloc(n);
  if (!p)
    abort();
  return p;
}

__attribute__((mprof_wrapper, always_inline)) static inline void *
xinline(size_t n) {
  return xmalloc(n);
}

__attribute__((noinline)) static void user(void) {
  sink = xinline(1234);
  sink = NULL;
}

int main(void) {
  user();
  return 0;
}
