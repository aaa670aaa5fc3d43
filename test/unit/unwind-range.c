// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread may switch between stacks (coroutines) or use more of a
// stack than before. The unwinder finds the frames on each stack, and does not
// use the cached range of one stack for another stack.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <sys/mman.h>

static char *new_stack(void) {
  char *m = mmap(NULL, 5 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(m + 4096, 3 * 4096, PROT_READ | PROT_WRITE);
  return m + 4096;
}

static uintptr_t chain(char *at, unsigned frames, size_t step) {
  for (unsigned i = 0; i < frames; i++) {
    uintptr_t *f = (uintptr_t *)(at + i * step);
    f[0] = i + 1 < frames ? (uintptr_t)(at + (i + 1) * step) : 0;
    f[1] = 0x401000 + i;
  }
  return (uintptr_t)at;
}

int main(void) {
  mprof_jit_add(0x400000, 0x600000); // the addresses count as code
  struct mprof_stack_range range = {0, 0, false};
  char *a = new_stack(), *b = new_stack();
  mprof_pc pcs[16];
  enum mprof_stack_end end;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(
        mprof_unwind_cfi(&range, chain(a + 2 * 4096, 4, 512), pcs, 16, &end),
        4);
    CHECK_EQ(end, MPROF_STACK_COMPLETE);
    CHECK_EQ(mprof_unwind_cfi(&range, chain(b, 10, 1024), pcs, 16, &end), 10);
    CHECK_EQ(end, MPROF_STACK_COMPLETE);
    CHECK_EQ(mprof_unwind_cfi(&range, chain(a, 11, 1024), pcs, 16, &end), 11);
    CHECK_EQ(end, MPROF_STACK_COMPLETE);
    // A chain into the guard page is cut there.
    uintptr_t fp = chain(b + 2 * 4096, 2, 64);
    ((uintptr_t *)(b + 2 * 4096 + 64))[0] = (uintptr_t)(b + 3 * 4096);
    CHECK_EQ(mprof_unwind_cfi(&range, fp, pcs, 16, &end), 2);
    CHECK_EQ(end, MPROF_STACK_CUT_CHAIN);
  }
  return 0;
}
