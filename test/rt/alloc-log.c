// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocation log has a record of each counted allocation and of
// each free, in order, with its stack. The log also has the blocks of code
// without MProf (here libc) and blocks that are resized. The tool that reads
// the log pairs each allocation with its free and names the functions. Logging
// does not change errno.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:alloc_log=%%e.log:log_path=x} ./app 2> err
// RUN: FileCheck %s < app.log
// RUN: %mprof log app.log | FileCheck %s --check-prefix=READ
// RUN: %mprof log --print app.log | FileCheck %s --check-prefix=PRINT
// RUN: %mprof log --no-names app.log | FileCheck %s --check-prefix=PLAIN
// RUN: mv app moved && %mprof log --binary=moved app.log \
// RUN:   | FileCheck %s --check-prefix=READ
// RUN: mv moved app
// RUN: grep ' and app.log (11 records)\|, app.log (11 records) and' err
// RUN: %run_quiet{heap_rate=1:alloc_log=app.log} ./app 2> err
// RUN: grep -x 'mprof: wrote app.log (11 records)' err
//
// CHECK: {{^}}# MProf allocation log 1, pid [[#PID:]], part 1, begun {{[0-9]+$}}
// CHECK-NEXT: {{^}}# heap_rate 1{{$}}
// CHECK-NEXT: {{^}}# modules {{[1-9][0-9]*$}}
// CHECK: {{^}}tracealloc(0x[[A:[0-9a-f]+]], 0x3e9){{$}}
// CHECK-NEXT: {{^}}thread [[#PID]] [{{0\.[0-9][0-9][0-9][0-9][0-9][0-9]}}]:{{$}}
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} app+0x{{[0-9a-f]+$}}
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} app+0x{{[0-9a-f]+$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}tracealloc(0x[[B:[0-9a-f]+]], 0x3ea){{$}}
// CHECK: {{^}}tracealloc(0x[[C:[0-9a-f]+]], 0x3eb){{$}}
// CHECK: {{^}}tracefree(0x[[A]], 0x3e9){{$}}
// CHECK-NEXT: {{^}}thread [[#PID]] [
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} app+0x{{[0-9a-f]+$}}
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} app+0x{{[0-9a-f]+$}}
// CHECK-EMPTY:
// CHECK: {{^}}tracefree(0x[[C]], 0x3eb){{$}}
// The free of a resized block precedes any reuse of its address.
// CHECK: {{^}}tracefree(0x[[B]], 0x3ea){{$}}
// CHECK: {{^}}tracealloc(0x[[D:[0-9a-f]+]], 0x1388){{$}}
// CHECK: {{^}}tracefree(0x[[D]], 0x1388){{$}}
// This block could not be resized.
// CHECK: {{^}}tracealloc(0x[[D]], 0x1388){{$}}
// CHECK: {{^}}tracealloc(0x[[E:[0-9a-f]+]], 0x[[#%x,SIZE:]]){{$}}
// CHECK-NEXT: {{^}}thread
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} libc.so.6+0x{{[0-9a-f]+$}}
// CHECK: {{^}}tracefree(0x[[E]], 0x[[#SIZE]]){{$}}
// CHECK-NEXT: {{^}}thread
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} libc.so.6+0x{{[0-9a-f]+$}}
// CHECK-NEXT: {{^}}	0x{{[0-9a-f]+}} app+0x{{[0-9a-f]+$}}
// CHECK-EMPTY:
// CHECK-NOT: trace
//
// READ: pid {{[0-9]+}}, heap_rate 1, 0.{{[0-9]+}} s, 1 thread{{$}}
// READ-NEXT: {{^}}6 allocations ({{[0-9,]+}} bytes), 5 frees, 0 collections{{$}}
// READ-NOT: note:
// READ: {{^}}Live: 1 block, 5,000 bytes{{$}}
// READ: {{^}}  1 block, 5,000 bytes, the oldest block is
// READ-NEXT: #0 main {{.*}}alloc-log.c:[[#]]
// READ: {{^}}Lifetimes: 5 pairs of allocation and free{{$}}
// READ: {{^}}    #0 get {{.*}}alloc-log.c:[[#]]
// READ-NEXT: {{^}}    #1 main {{.*}}alloc-log.c:[[#]]
// READ: {{^}}Freed twice: 0 blocks{{$}}
//
// PRINT: {{^}}tracealloc(0x{{.*}}, 0x3e9){{$}}
// PRINT-NEXT: {{^}}thread [[#]] [
// PRINT-NEXT: {{^}}get{{$}}
// PRINT-NEXT: {{^}}	{{.*}}alloc-log.c:[[#]]{{$}}
// PRINT-NEXT: {{^}}main{{$}}
// PRINT: {{^}}tracefree(0x{{.*}}, 0x3e9){{$}}
// PRINT-NEXT: {{^}}thread
// PRINT-NEXT: {{^}}put{{$}}
//
// PLAIN: #0 app+0x

#include "records.h"

#include <errno.h>
#include <stdio.h>

static void *volatile blocks[3];

__attribute__((noinline)) static void *get(size_t size) {
  void *p = malloc(size);
  __asm__ volatile("" : : "r"(p));
  return p;
}
__attribute__((noinline)) static void put(void *p) {
  free(p);
  __asm__ volatile("");
}

int main(void) {
  errno = 7;
#pragma clang loop unroll(disable)
  for (size_t i = 0; i < 3; i++)
    blocks[i] = get(1001 + i);
  put(blocks[0]);
  put(blocks[2]);
  blocks[1] = realloc(blocks[1], 5000);
  CHECK(errno == 7);
  CHECK(realloc(blocks[1], (size_t)1 << 60) == NULL);
  FILE *f = fopen("/dev/null", "r");
  CHECK(f != NULL);
  return fclose(f);
}
