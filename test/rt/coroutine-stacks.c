// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: allocations on ucontext stacks, including stacks on the heap, are
// counted with all frames of the coroutine, up to its first function.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: FileCheck %s < out.*.txt
// RUN: not grep -q "without frame pointers" out.*.txt
// CHECK-LABEL: allocated
// CHECK: in leaf
// CHECK: in coroutine

#include "records.h"

#include <ucontext.h>

static ucontext_t back, there[2];
static void *volatile sink;

__attribute__((noinline)) static void leaf(void) { free(sink = malloc(701)); }

static void coroutine(int me) {
  for (int i = 0; i < 1000; i++) {
    leaf();
    swapcontext(&there[me], &back);
  }
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    getcontext(&there[i]);
    there[i].uc_stack.ss_sp = malloc(16384);
    there[i].uc_stack.ss_size = 16384;
    there[i].uc_link = &back;
    makecontext(&there[i], (void (*)(void))coroutine, 1, i);
  }
  for (int i = 0; i < 1000; i++) {
    swapcontext(&back, &there[0]);
    swapcontext(&back, &there[1]);
  }
  EXPECT(701, 1, 2000, 2000);
  return 0;
}
