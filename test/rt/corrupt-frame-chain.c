// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime does not fault, whatever value a saved frame pointer has.
// The allocation is counted, and its stack is marked as truncated.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: FileCheck %s < out.*.txt
// CHECK: [truncated]
// CHECK: without frame pointers

#include "records.h"

#include <stdint.h>
#include <sys/mman.h>

static void *volatile sink;

__attribute__((noinline)) static void with_saved(uintptr_t value) {
  volatile uintptr_t *fp = __builtin_frame_address(0);
  uintptr_t saved = fp[0];
  fp[0] = value;
  sink = malloc(801);
  fp[0] = saved;
}

// The array needs a frame pointer, so the frame is found by the corrupt value.
__attribute__((noinline)) static void work(const uintptr_t *values, size_t n) {
  volatile size_t size = n;
  volatile char array[size];
  array[0] = 0;
  for (size_t i = 0; i < n; i++)
    with_saved(values[i]);
}

int main(void) {
  uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
  char *hole = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(hole, 8192);
  const uintptr_t values[] = {1,
                              sp - 4096,
                              sp + 8,
                              sp + 16 * 1024 * 1024,
                              UINTPTR_MAX,
                              UINTPTR_MAX - 15,
                              UINT64_C(0x8000000000000000),
                              UINT64_C(0x7fffffffffffff0),
                              (uintptr_t)hole,
                              (uintptr_t)&values,
                              (uintptr_t)&main};
  const size_t n = sizeof(values) / sizeof(values[0]);
  work(values, n);
  CHECK(counted_of(801).allocs == n);
  return 0;
}
