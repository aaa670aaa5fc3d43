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
#ifdef __aarch64__
  __asm__ volatile("mov x19, sp\n\t"
                   "mov x20, x29\n\t"
                   "mov sp, %0\n\t"
                   "mov x29, %1\n\t"
                   "bl on_fiber\n\t"
                   "mov x29, x20\n\t"
                   "mov sp, x19"
                   :
                   : "r"(top), "r"(frame)
                   : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
                     "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                     "x19", "x20", "x30", "memory", "cc");
#else
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
#endif
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
