// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the frame chain of a fiber leads to a stack that has been unmapped.
// MProf does not crash, because it does not rely on data about other stacks
// that may be out of date.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t
// RUN: %run_quiet{seed=2} %t

#include "records.h"

#include <stdint.h>
#include <sys/mman.h>

static void *volatile sink;

// Runs on another stack with the frame address that the caller passes, like a
// stack switch that leaves the frame pointer as it was.
__attribute__((noinline, used)) static void on_fiber(void) {
  for (int i = 0; i < 3000; i++) {
    sink = malloc(1999);
    free(sink);
  }
}

__attribute__((noinline)) static void switch_to(char *top, void *frame) {
  __asm__ volatile("movq %%rsp, %%r12\n\t"
                   "movq %%rbp, %%r13\n\t"
                   "movq %0, %%rsp\n\t"
                   "movq %1, %%rbp\n\t"
                   "call on_fiber\n\t"
                   "movq %%r13, %%rbp\n\t"
                   "movq %%r12, %%rsp"
                   :
                   : "r"(top), "r"(frame)
                   : "r12", "r13", "rax", "rcx", "rdx", "rsi", "rdi", "r8",
                     "r9", "r10", "r11", "memory", "cc");
}

int main(void) {
  enum { SIZE = 64 * 1024 };
  char *m = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *lower = m + SIZE - 256, *upper = m + 2 * SIZE - 256;
  void **frame = (void **)(m + SIZE + 4096); // a frame on the upper stack
  frame[0] = NULL;
  frame[1] = (void *)&main;
  switch_to(upper, frame);
  switch_to(lower, frame);
  munmap(m + SIZE, SIZE);
  switch_to(lower, frame);
  CHECK(counted_of(1999).allocs > 5);
  return 0;
}
