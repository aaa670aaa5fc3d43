// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace has the heap in use each time it has changed by
// trace_heap_kb, from what was in use when it began, exact where every block is
// counted; with 0 it has not; and the collections of libgc, each begun and
// done, numbered from 0 in every session, with what they consist of as regions.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o heap
// RUN: %run_quiet{heap_rate=1:trace_heap_kb=100} ./heap heap.trace
// RUN: %run_quiet{heap_rate=1:trace_heap_kb=0} ./heap none.trace
// RUN: %mprof_clang -fmprof -O1 -g1 -DGC -I%src/include %s -lgc -o gc
// RUN: %run_quiet{heap_rate=1} ./gc gc.trace
// RUN: %trace_check -q *.trace
// RUN: %python %S/Inputs/trace_heap.py heap.trace none.trace gc.trace
// RUN: %go tool trace -d=parsed gc.trace | grep -o 'R.*Type="GC.*' | FileCheck %s
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
  for (int i = 0; argc == 2 && i < 2; i++) { // the last one is kept
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
