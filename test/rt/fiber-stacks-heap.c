// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of fibers of libco and of ucontext are complete. They end
// with the first function of the fiber, and have no frames of the function that
// has resumed the fiber. This holds for fibers that resume each other, for
// exact and sampled profiles, for both ways of unwinding, and if the function
// to which the first function would return begins on a new page.
//
// The test switches stacks by instructions of x86-64.
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in "-O1 -fmprof-unwind=tables" "-O2 -fmprof-unwind=frames" \
// RUN:     "-O2 -fno-omit-frame-pointer"; do \
// RUN:   for kind in LIBCO AT_PAGE ADJACENT UCONTEXT; do \
// RUN:     %mprof_clang -fmprof -g1 $flags -D$kind -I%src/test/Inputs %s -o app && \
// RUN:     for rate in 1 16384; do rm -f out.* && \
// RUN:       %run{heap_rate=$rate:stack_depth=20:log_path=out.%%p} ./app && \
// RUN:       FileCheck %s < out.*.txt && not grep -qi "truncated\|without frame" out.*.txt || \
// RUN:       { echo "$kind, $flags, rate $rate"; exit 1; }; done; done; done
// CHECK-LABEL: Stacks with the most bytes allocated
// CHECK: in leaf
// CHECK-NEXT: in middle
// CHECK-NEXT: in work
// CHECK-NEXT: in fiber_main
// CHECK-EMPTY:

#include "fibers.h"

enum { FIBERS = 30, ROUNDS = 100, STACK = 32768 };

static struct fiber fibers[FIBERS];
static void *volatile sink;

__attribute__((noinline)) static void leaf(void) { free(sink = malloc(1701)); }

__attribute__((noinline)) static void middle(void) {
  leaf();
  __asm__ volatile(""); // no tail call
}

// Each fiber resumes the next one, so that the stacks of all are in use.
static void work(void *number) {
  const intptr_t next = (intptr_t)number + 1;
  for (int i = 0; i < ROUNDS; i++) {
    middle();
    if (next < FIBERS)
      fiber_resume(&fibers[next]);
    middle();
    fiber_yield();
  }
}

int main(void) {
  for (intptr_t i = 0; i < FIBERS; i++)
    fiber_make(&fibers[i], malloc(STACK), STACK, work, (void *)i);
  for (int i = 0; i < ROUNDS; i++)
    fiber_resume(&fibers[0]);
  return 0;
}
