// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocation log has the objects of libgc and marks them with "gc".
// Each object that a collection finds dead is logged as freed. Each collection
// has a record with the stack of the code that requested the collection.
//
// REQUIRES: libgc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app -lgc
// RUN: %run_quiet{heap_rate=1:alloc_log=x.log} ./app
// RUN: FileCheck %s < x.log
// RUN: %mprof log --no-names x.log > out
// RUN: FileCheck %s --check-prefix=READ < out
// RUN: test $(grep -c '^tracealloc(0x[0-9a-f]*, 0xc8, gc)$' x.log) = 50
// RUN: test $(grep -c '^tracefree(0x[0-9a-f]*, 0xc8, gc)$' x.log) -ge 49
// RUN: %mprof log --print x.log | grep -A 200 '^tracegc' | grep -x collect
//
// CHECK: {{^}}tracegc(){{$}}
// CHECK-NEXT: {{^}}thread [[#]] [
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} libgc.so
// CHECK: {{^}}	0x{{[0-9a-f]+}} app+0x
// CHECK: {{^}}end tracegc{{$}}
// CHECK: {{^}}tracefree(0x{{.*}}, 0xc8, gc){{$}}
// CHECK: {{^}}tracefree(0x{{.*}}, 0x12c, gc){{$}}
// READ: 3 collections
// READ-NOT: note:
// READ: {{^}}Freed twice: 0 blocks

#include "gc.h"

static void **objects;

int main(void) {
  start();
  objects = GC_MALLOC_UNCOLLECTABLE(64 * sizeof(void *));
  collect();
  row_size = 200;
  allocate(objects, 50);
  collect();
  drop(objects, 50);
  collect();
  objects[0] = GC_MALLOC(300);
  GC_FREE(objects[0]);
  return 0;
}
