// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the unwinder follows a frame chain to its root or to the first
// impossible step, and returns the reason for the end. It never crashes,
// however broken the chain is.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <sys/mman.h>

// Two pages as a stack, then an unreadable page.
static uintptr_t *stack;
enum { WORDS = 2 * 4096 / sizeof(uintptr_t) };

static uintptr_t frame(size_t at, size_t next, uintptr_t pc) {
  stack[at] = next ? (uintptr_t)&stack[next] : 0;
  stack[at + 1] = pc;
  return (uintptr_t)&stack[at];
}

static size_t unwind(uintptr_t fp, size_t depth, mprof_pc *pcs,
                     enum mprof_stack_end *end) {
  struct mprof_stack_range range = {0, 0, false};
  return mprof_unwind_cfi(&range, fp, pcs, depth, end);
}

static void check(uintptr_t fp, size_t depth, size_t want_n,
                  enum mprof_stack_end want_end) {
  mprof_pc pcs[WORDS];
  enum mprof_stack_end end;
  CHECK_EQ(unwind(fp, depth, pcs, &end), want_n);
  CHECK_EQ(end, want_end);
  for (size_t i = 0; i < want_n; i++)
    CHECK_EQ(pcs[i], 0x401000 + i);
}

int main(void) {
  mprof_jit_add(0x400000, 0x600000); // the addresses count as code
  char *m = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(m + 2 * 4096, 4096, PROT_NONE);
  stack = (uintptr_t *)m;
  memset(m, 0, 2 * 4096);
  // Three frames over both pages, and the root.
  frame(10, 20, 0x401000);
  frame(20, 600, 0x401001);
  frame(600, 0, 0x401002);
  uintptr_t fp = (uintptr_t)&stack[10];
  check(fp, 100, 3, MPROF_STACK_COMPLETE);
  check(fp, 3, 3, MPROF_STACK_COMPLETE);
  check(fp, 2, 2, MPROF_STACK_CUT_DEPTH);
  check(fp, 0, 0, MPROF_STACK_CUT_DEPTH);
  // A return address of 0 also is a root; an address outside user code is not.
  stack[601] = 0;
  check(fp, 100, 2, MPROF_STACK_COMPLETE);
  stack[601] = 12;
  check(fp, 100, 2, MPROF_STACK_CUT_CHAIN);
  stack[601] = UINT64_C(0xffff800000000000);
  check(fp, 100, 2, MPROF_STACK_CUT_CHAIN);
  stack[601] = 0x401002;
  // A frame pointer that goes down, to itself, off alignment, far away, and to
  // unreadable memory.
  const uintptr_t broken[] = {
      (uintptr_t)&stack[8],       (uintptr_t)&stack[600],
      (uintptr_t)&stack[602] + 4, 1,
      UINTPTR_MAX - 15,           (uintptr_t)m + (64 << 20),
      (uintptr_t)(m + 2 * 4096)};
  for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
    stack[600] = broken[i];
    check(fp, 100, 3, MPROF_STACK_CUT_CHAIN);
  }
  return 0;
}
