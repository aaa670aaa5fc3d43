// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace has the number of bytes in use each time that this number has
// changed by trace_heap_kb. With heap_rate=1 the number is exact, and with
// trace_heap_kb=0 the trace has no such events. The trace has the begin and end
// of each collection of libgc, numbered from 0 in each trace. The phases of a
// collection are regions.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o heap
// RUN: %run_quiet{heap_rate=1:trace_heap_kb=100} ./heap heap.trace
// RUN: %run_quiet{heap_rate=1:trace_heap_kb=0} ./heap none.trace
// RUN: %if libgc %{ %mprof_clang -fmprof -O1 -g1 -DGC -I%src/include %s -lgc -o gc %}
// RUN: %if libgc %{ %run_quiet{heap_rate=1} ./gc gc.trace %}
// RUN: %trace_check -q *.trace
// RUN: %trace_print heap.trace | grep HeapAlloc > heap.txt
// RUN: FileCheck --check-prefix=HEAP %s < heap.txt
// Besides the blocks, of which 301 KB are in use at the first event, the
// process has less than 100000 bytes in use.
// RUN: others=$(($(head -n 1 heap.txt | cut -d ' ' -f 3) - 301 * 1024)) && \
// RUN:   test $others -ge 0 && test $others -lt 100000
// RUN: %trace_print none.trace > none.txt && not grep HeapAlloc none.txt
// RUN: %if libgc %{ %trace_print gc.trace | grep ': GC' | \
// RUN:   FileCheck --check-prefix=COLLECTIONS %s %}
// RUN: %if libgc && go-1.23 %{ %go tool trace -d=parsed gc.trace | \
// RUN:   grep -o 'R.*Type="GC.*' | FileCheck %s %}
//
// HEAP: main: HeapAlloc [[#FIRST:]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 102400]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 204800]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 307200]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 409600]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 512000]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 614400]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 512000]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 409600]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 307200]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 204800]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST + 102400]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST - 102400]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST - 204800]]
// HEAP-NEXT: main: HeapAlloc [[#FIRST - 307200]]
// HEAP-NOT: HeapAlloc
//
// COLLECTIONS-NOT: GC
// COLLECTIONS: main: GCStart 0
// COLLECTIONS-NEXT: main: GCDone
// COLLECTIONS-NEXT: main: GCStart 1
// COLLECTIONS-NEXT: main: GCDone
// COLLECTIONS-NEXT: main: GCStart 2
// COLLECTIONS-NEXT: main: GCDone
// COLLECTIONS-NOT: GC
//
// CHECK: RegionBegin {{.*}}Type="GC: world stopped"
// CHECK-NEXT: RegionBegin {{.*}}Type="GC: mark"
// CHECK-NEXT: RegionEnd {{.*}}Type="GC: mark"
// CHECK-NEXT: RegionEnd {{.*}}Type="GC: world stopped"
// CHECK-NEXT: RegionBegin {{.*}}Type="GC: sweep"
// CHECK-NEXT: RegionEnd {{.*}}Type="GC: sweep"

#include <mprof/mprof.h>
#include <stdlib.h>

#ifdef GC
#include <gc.h>

static void *volatile sink;

int main(int argc, char **argv) {
  GC_INIT();
  GC_gcollect();
  for (int i = 0; argc == 2 && i < 2; i++) { // the file keeps the last one
    if (mprof_trace_start(argv[1]) != 0)
      return 1;
    for (int k = 0; k < 3; k++) {
      sink = GC_malloc(1000);
      GC_gcollect();
    }
    if (mprof_trace_stop() != 0)
      return 1;
  }
  return 0;
}
#else
enum { BLOCKS = 1000, SIZE = 1024 };
static void *volatile blocks[BLOCKS];

static void fill(int from, int to) {
  for (int i = from; i < to; i++)
    blocks[i] = malloc(SIZE);
}

int main(int argc, char **argv) {
  fill(0, 300);
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  fill(300, BLOCKS);
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  return mprof_trace_stop();
}
#endif
