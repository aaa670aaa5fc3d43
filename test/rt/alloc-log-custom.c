// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocation log has the blocks of custom allocators and marks them
// with the word "custom". A custom block is logged even if it begins at the
// address of the malloc'ed block that contains it. When an arena is reset, each
// of its blocks is logged as freed, with the stack of the reset.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-inline %s -o app
// RUN: %run_quiet{heap_rate=1:alloc_log=x.log} ./app
// RUN: FileCheck %s < x.log
// RUN: %mprof log x.log > out && FileCheck %s --check-prefix=READ < out
// RUN: %mprof log --print x.log | FileCheck %s --check-prefix=PRINT
//
// CHECK: {{^}}tracealloc(0x[[CHUNK:[0-9a-f]+]], 0x1000){{$}}
// CHECK: {{^}}tracealloc(0x[[CHUNK]], 0x64, custom){{$}}
// CHECK: {{^}}tracealloc(0x[[B:[0-9a-f]+]], 0x65, custom){{$}}
// CHECK: {{^}}tracealloc(0x[[POOL:[0-9a-f]+]], 0x66, custom){{$}}
// CHECK: {{^}}tracefree(0x[[POOL]], 0x66, custom){{$}}
// CHECK-DAG: {{^}}tracefree(0x[[CHUNK]], 0x64, custom){{$}}
// CHECK-DAG: {{^}}tracefree(0x[[B]], 0x65, custom){{$}}
// CHECK: {{^}}tracefree(0x[[CHUNK]], 0x1000){{$}}
//
// READ-NOT: note:
// READ: {{^}}Live: 0 blocks
// READ: {{^}}Lifetimes: 4 pairs
//
// PRINT: {{^}}tracefree({{.*}}, 0x66, custom){{$}}
// PRINT-NEXT: {{^}}thread
// PRINT-NEXT: {{^}}put_one{{$}}
// PRINT: {{^}}tracefree({{.*}}, custom){{$}}
// PRINT-NEXT: {{^}}thread
// PRINT-NEXT: {{^}}reset{{$}}
// PRINT-NEXT: {{^}}	{{.*}}alloc-log-custom.c:[[#]]{{$}}
// PRINT-NEXT: {{^}}main{{$}}

#include <mprof/mprof.h>

#include <stdlib.h>

static char *chunk;
static void *volatile sink;

static void fill(void) {
  mprof_arena_alloc_event(&chunk, chunk, 100);
  mprof_arena_alloc_event(&chunk, chunk + 112, 101);
  mprof_alloc_event(chunk + 1000, 102);
}
static void put_one(void) {
  mprof_free_event(chunk + 1000);
  __asm__ volatile("");
}
static void reset(void) {
  mprof_arena_reset(&chunk);
  __asm__ volatile("");
}

int main(void) {
  sink = chunk = malloc(4096);
  fill();
  put_one();
  reset();
  free(chunk);
  return 0;
}
