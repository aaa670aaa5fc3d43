// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program whose own free does nothing, the frees are counted at
// every optimization level, even if the compiler sees the definition of free.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for o in -O0 -O1 -O2 -Oz '-O2 -flto=thin -fuse-ld=lld'; do \
// RUN:   %mprof_clang -fmprof $o %s -o app && \
// RUN:   %run{heap_rate=1:log_path=x:symbolize=0} ./app && \
// RUN:   grep -qx 'In use:    600 bytes in 6 blocks' x.*.txt && \
// RUN:   grep -qx 'Allocated: 1,000 bytes in 10 blocks' x.*.txt && \
// RUN:   rm x.* || exit 1; done

#include <stddef.h>

// Large enough for all requests of the C library, too.
static _Alignas(16) char memory[1 << 20];
static size_t used;

void *malloc(size_t size) {
  void *p = memory + used;
  used += (size + 15) & ~(size_t)15;
  return p;
}

void free(void *p) { (void)p; }

static void *volatile block;

int main(void) {
  for (int i = 0; i < 10; i++) {
    block = malloc(100);
    if (i % 5 < 2)
      free(block);
  }
  return 0;
}
