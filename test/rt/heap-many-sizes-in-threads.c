// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks of many sizes from one stack are counted exactly if several
// threads allocate them at the same time, free their own blocks and the blocks
// of other threads, and end, so that new threads get their counters.
//
// RUN: %mprof_clang -fmprof -fmprof-unwind=tables -O2 -I%src/test/Inputs %s \
// RUN:   -o %t -lpthread
// RUN: %run{heap_rate=1:report=0:profile=0} %t
// RUN: %run{heap_rate=1:report=0:profile=0:heapx=1} %t
// RUN: %mprof_clang -fmprof -fmprof-unwind=frames -O2 -I%src/test/Inputs %s \
// RUN:   -o %t.frames -lpthread
// RUN: %run{heap_rate=1:report=0:profile=0} %t.frames

#include "records.h"

#include <pthread.h>

enum { FIRST = 10000, SIZES = 500, THREADS = 4, ROUNDS = 30, GENERATIONS = 3 };

static struct {
  unsigned buckets;
  unsigned long long allocs, frees;
} found[SIZES];
static void *kept[THREADS][SIZES];
static pthread_barrier_t all_allocated;

// Each thread calls this function from the same stack.
static __attribute__((noinline)) void *allocate(int i) {
  void *p = malloc(FIRST + (size_t)i);
  __asm__ volatile("" : "+r"(p)); // the compiler keeps the block
  return p;
}

static void *run(void *arg) {
  void **mine = arg,
       **other = mine == kept[THREADS - 1] ? kept[0] : mine + SIZES;
#pragma clang loop unroll(disable)
  for (int round = 0; round < ROUNDS; round++) {
#pragma clang loop unroll(disable)
    for (int i = 0; i < SIZES; i++) {
      mine[i] = allocate(i);
      if (i % 2 != 0)
        free(mine[i]);
    }
    pthread_barrier_wait(&all_allocated);
    for (int i = 0; i < SIZES; i += 2)
      free(other[i]);
    pthread_barrier_wait(&all_allocated);
  }
  return NULL;
}

static void add(const struct mprof_mem_bucket *b, void *arg) {
  (void)arg;
  if (b->size < FIRST || b->size >= FIRST + SIZES)
    return;
  found[b->size - FIRST].buckets++;
  found[b->size - FIRST].allocs += b->allocs;
  found[b->size - FIRST].frees += b->frees;
}

int main(void) {
  pthread_barrier_init(&all_allocated, NULL, THREADS);
#pragma clang loop unroll(disable)
  for (int g = 0; g < GENERATIONS; g++) {
    pthread_t threads[THREADS];
#pragma clang loop unroll(disable)
    for (int i = 0; i < THREADS; i++)
      CHECK_EQ(pthread_create(&threads[i], NULL, run, kept[i]), 0);
    for (int i = 0; i < THREADS; i++)
      CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  counted_of(0); // publishes all counts
  mprof_iterate_mem(add, NULL);
  for (int i = 0; i < SIZES; i++) {
    CHECK_EQ(found[i].buckets, 1u);
    CHECK_EQ(found[i].allocs, 1ull * THREADS * ROUNDS * GENERATIONS);
    CHECK_EQ(found[i].frees, 1ull * THREADS * ROUNDS * GENERATIONS);
  }
  return 0;
}
