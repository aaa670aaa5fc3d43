// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a function that reports blocks of an arena is marked
// mprof_wrapper, its blocks are shown at the function's callers. For other
// languages, the runtime exports the inline functions of mprof.h under the same
// names. The exported functions count the same events as the inline ones and
// add no frame.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 %s -o app
// RUN: %run{heap_rate=1:log_path=out} ./app
// RUN: FileCheck %s < out.*.txt
// CHECK-DAG: #0 {{.*}} in by_header
// CHECK-DAG: #0 {{.*}} in by_function
// RUN: not grep -q "in mprof_\|in from_arena" out.*.txt

#include <mprof/mprof.h>

extern void alloc_event(void *ptr, size_t size) __asm__("mprof_alloc_event");
extern void free_event(void *ptr) __asm__("mprof_free_event");
extern void arena_alloc_event(const void *arena, void *ptr,
                              size_t size) __asm__("mprof_arena_alloc_event");
extern void arena_reset(const void *arena) __asm__("mprof_arena_reset");

static char memory[10000];

__attribute__((noinline, mprof_wrapper)) static void from_arena(size_t at) {
  mprof_arena_alloc_event(memory, memory + at, 100);
}

__attribute__((noinline)) static void by_header(void) {
  from_arena(0);
  from_arena(100);
}

__attribute__((noinline)) static void by_function(void) {
  alloc_event(memory + 200, 1000);
  alloc_event(memory + 1200, 1001);
  arena_alloc_event(&memory, memory + 3000, 1002);
  free_event(memory + 1200);
}

static void look(const struct mprof_mem_bucket *b, void *arg) {
  unsigned *left = arg;
  left[b->size == 1000   ? 0
       : b->size == 1001 ? 1
       : b->size == 1002 ? 2
                         : 3] += (unsigned)(b->allocs - b->frees);
}

int main(void) {
  by_header();
  by_function();
  unsigned left[4] = {0};
  mprof_next_cycle();
  mprof_iterate_mem(look, left);
  if (left[0] != 1 || left[1] != 0 || left[2] != 1)
    return 1;
  arena_reset(&memory);
  unsigned after[4] = {0};
  mprof_next_cycle();
  mprof_iterate_mem(look, after);
  if (after[0] != 1 || after[1] != 0 || after[2] != 0)
    return 2;
  by_header();
  return 0;
}
