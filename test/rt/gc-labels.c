// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: objects of libgc and blocks of the program's own allocator have the
// labels of the thread that allocated them, as blocks of malloc have.
//
// REQUIRES: libgc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app -lgc
// RUN: %run{heap_rate=1:report=0:log_path=x} ./app
// RUN: %mprof_read --symbolize x.*.heap.pb.gz | FileCheck %s
// CHECK-DAG: sample: 1 7000 {{.*}} bytes=7000 phase=load : main
// CHECK-DAG: sample: 1 8000 1 8000 bytes=8000 phase=load : main

#include "gc.h"

static void *volatile object;
static char pool[8000];

int main(void) {
  GC_INIT();
  MPROF_LABELS("phase", "load");
  object = GC_MALLOC(7000);
  mprof_alloc_event(pool, sizeof(pool));
  return 0;
}
