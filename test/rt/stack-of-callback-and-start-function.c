// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: one function is the start function of a thread and also a callback of
// libc's bsearch. The profile has two different stacks for these uses, and the
// callback's stack has bsearch and its callers. Frame pointers alone cannot
// distinguish the two uses. (glibc's bsearch has 0 in the frame pointer
// register, as new threads have.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-optimize-sibling-calls %s -o app
// RUN: %run{heap_rate=1:log_path=out} ./app
// RUN: %mprof_read --symbolize out.*.heap.pb.gz | FileCheck %s
// RUN: not grep -e "\[truncated\]" -e truncated_ out.*.txt
//
// CHECK-DAG: sample: 5 4505 {{.*}} : allocate <- visit{{$}}
// CHECK-DAG: sample: 5 4505 {{.*}} : allocate <- visit <- bsearch <- search <- main{{$}}

#include <stdlib.h>
#include <threads.h>

static void *volatile sink;
// A call through this pointer is not inlined.
static __typeof__(&bsearch) volatile libc_bsearch = bsearch;

__attribute__((noinline)) static void allocate(void) {
  free(sink = malloc(901));
}

static int visit(const void *a, const void *b) {
  allocate();
  return a != b;
}

__attribute__((noinline)) static void search(void) {
  char v[] = "1";
  for (int i = 0; i < 5; i++)
    libc_bsearch("2", v, 1, 1, visit);
}

int main(void) {
  thrd_t t;
  for (int i = 0; i < 5; i++) {
    thrd_create(&t, (thrd_start_t)(void *)visit, NULL);
    thrd_join(t, NULL);
  }
  search();
  return 0;
}
