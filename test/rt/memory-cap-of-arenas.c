// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program can report blocks of arenas even beyond max_memory_mb, and
// even if the system refuses a request of the runtime for memory. Events that
// cannot be counted are reported as lost. mprof_arena_reset frees exactly the
// blocks that were counted.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fmprof-nested=each -O1 -I%src/test/Inputs %s \
// RUN:   -o app
// RUN: %run{heap_rate=1:max_memory_mb=4:log_path=out.%%p} ./app full
// RUN: grep -q "max_memory_mb" out.*.txt
// RUN: for n in $(seq 1 12); do \
// RUN:   %run_quiet{heap_rate=1} FAIL_AT=$n ./app || exit 1; done

#include "records.h"

#include <string.h>

extern void mprof_os_fail_map(int n);

// Runs before the runtime's constructor requests any memory.
static void arm(void) {
  const char *n = getenv("FAIL_AT");
  mprof_os_fail_map(n ? atoi(n) : 0);
}
__attribute__((section(".preinit_array"), used)) static void (*at)(void) = arm;

enum { ARENAS = 60, BLOCKS = 1000, STEP = 40 };
static char memory[ARENAS * BLOCKS * STEP];
static char first[100];

__attribute__((mprof_alloc(2), noinline)) static void *outer(char *at,
                                                             size_t size) {
  mprof_arena_alloc_event(memory, at, size + 1);
  return at;
}
__attribute__((mprof_free(1), noinline)) static void outer_free(char *at) {
  mprof_free_event(at);
}

static void count(const struct mprof_mem_bucket *b, void *arg) {
  unsigned long long *sum = arg;
  sum[0] += b->allocs;
  sum[1] += b->frees;
}

int main(int argc, char **argv) {
  int is_full = argc > 1 && strcmp(argv[1], "full") == 0;
  mprof_arena_alloc_event(first, first, 77);
  // Each block has a size of its own, and so needs a bucket and a record.
  for (int a = 0; a < ARENAS; a++)
    for (int i = 0; i < BLOCKS; i++) {
      int k = a * BLOCKS + i;
      mprof_arena_alloc_event(&memory[a], memory + k * STEP, 100 + (size_t)k);
    }
  struct counted early = counted_of(77);
  CHECK(is_full ? early.allocs == 1 && early.frees == 0
                : early.allocs - early.frees <= 1);
  for (int a = 0; a < ARENAS; a++)
    mprof_arena_reset(&memory[a]);
  for (int i = 0; i < BLOCKS; i++) {
    void *p = outer(memory + i * STEP, 7);
    if (i % 2)
      outer_free(p);
  }
  mprof_arena_reset(memory);
  mprof_arena_reset(first);
  unsigned long long sum[2] = {0, 0};
  mprof_next_cycle();
  mprof_iterate_mem(count, sum);
  struct counted outers = counted_of(7);
  CHECK(sum[0] <= 2 + ARENAS * BLOCKS + 2 * BLOCKS);
  CHECK(!is_full || (sum[0] > 1000 && sum[0] < ARENAS * BLOCKS));
  CHECK(sum[0] - sum[1] == outers.allocs - outers.frees);
  CHECK(outers.allocs - outers.frees <= BLOCKS / 2);
  return 0;
}
