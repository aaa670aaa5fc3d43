// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks of many sizes from many stacks are counted exactly, each in
// the bucket of its stack, size and label, also if there are more of them than
// a thread's caches of buckets have entries.
//
// RUN: %mprof_clang -fmprof -fmprof-unwind=tables -O2 -I%src/test/Inputs %s \
// RUN:   -o %t
// RUN: %run{heap_rate=1:report=0:profile=0} %t
// RUN: %mprof_clang -fmprof -fmprof-unwind=frames -O2 -I%src/test/Inputs %s \
// RUN:   -o %t.frames
// RUN: %run{heap_rate=1:report=0:profile=0} %t.frames

#include "records.h"

enum { FIRST = 10000, SIZES = 20, DEPTHS = 100, ROUNDS = 4 };
enum { FIRST_OF_MANY = 20000, MANY = 5000 }; // sizes from one stack

// The buckets of each size. allocs: of the blocks of `once`, of `three_times`.
static struct {
  unsigned buckets;
  unsigned long long allocs[2], frees;
} found[SIZES];
static unsigned long long allocs_of_many[MANY];

static inline void allocate_and_free(size_t size) {
  void *p = malloc(size);
  __asm__ volatile("" : : "r"(p) : "memory"); // the compiler keeps the block
  free(p);
}
static __attribute__((noinline)) void once(size_t size) {
  allocate_and_free(size);
}
static __attribute__((noinline)) void three_times(size_t size) {
#pragma clang loop unroll(disable)
  for (int i = 0; i < 3; i++)
    allocate_and_free(size);
}
static __attribute__((noinline)) void allocate(size_t size, int depth) {
  if (depth > 0) {
    allocate(size, depth - 1);
  } else {
    once(size);
    three_times(size);
  }
  __asm__ volatile("" ::: "memory"); // keeps the frame of each call
}

static __attribute__((noinline)) void allocate_many(void) {
#pragma clang loop unroll(disable)
  for (int i = 0; i < MANY; i++)
    allocate_and_free(FIRST_OF_MANY + (size_t)i);
}

static void add(const struct mprof_mem_bucket *b, void *arg) {
  (void)arg;
  if (b->size >= FIRST_OF_MANY && b->size < FIRST_OF_MANY + MANY)
    allocs_of_many[b->size - FIRST_OF_MANY] += b->allocs;
  if (b->size < FIRST || b->size >= FIRST + SIZES)
    return;
  const size_t i = b->size - FIRST;
  found[i].buckets++;
  found[i].allocs[b->allocs > ROUNDS] += b->allocs;
  found[i].frees += b->frees;
}

int main(void) {
#pragma clang loop unroll(disable)
  for (int i = 0; i < ROUNDS * DEPTHS * SIZES * 2; i++) {
    // The label changes with each block, or after one block of each size.
    const int round = i / (DEPTHS * SIZES * 2);
    const int size = round % 2 != 0 ? i / 2 % SIZES : i % SIZES;
    const int has_label = round % 2 != 0 ? i % 2 : i / SIZES % 2;
    CHECK_EQ(mprof_label_set("key", has_label ? "label" : NULL), 0);
    allocate(FIRST + (size_t)size, i / SIZES / 2 % DEPTHS);
  }
#pragma clang loop unroll(disable)
  for (int i = 0; i < ROUNDS; i++)
    allocate_many();
  counted_of(0); // publishes all counts
  mprof_iterate_mem(add, NULL);
  for (unsigned i = 0; i < SIZES; i++) {
    CHECK_EQ(found[i].buckets, 2u * 2 * DEPTHS);
    CHECK_EQ(found[i].allocs[0], 2ull * DEPTHS * ROUNDS);
    CHECK_EQ(found[i].allocs[1], 2ull * DEPTHS * ROUNDS * 3);
    CHECK_EQ(found[i].frees, 2ull * DEPTHS * ROUNDS * 4);
  }
  for (unsigned i = 0; i < MANY; i++)
    CHECK_EQ(allocs_of_many[i], (unsigned)ROUNDS);
  return 0;
}
