// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for end-to-end tests that read the profile of their own process: the
// counts of blocks of one size. Each allocation site of a test has a size of
// its own, so that sites are told apart without symbols.

#ifndef MPROF_TEST_INPUTS_RECORDS_H
#define MPROF_TEST_INPUTS_RECORDS_H

#include "check.h"

#include <mprof/mprof.h>

#include <stdio.h>
#include <stdlib.h>

struct counted {
  size_t size;
  unsigned buckets;
  unsigned long long allocs, frees;
  size_t min_depth, max_depth;
};

static inline void count_bucket(const struct mprof_mem_bucket *b, void *arg) {
  struct counted *c = (struct counted *)arg;
  if (b->size != c->size)
    return;
  if (c->buckets++ == 0 || b->stack_len < c->min_depth)
    c->min_depth = b->stack_len;
  if (b->stack_len > c->max_depth)
    c->max_depth = b->stack_len;
  c->allocs += b->allocs;
  c->frees += b->frees;
}

// Returns the counts of all events up to now.
static inline struct counted counted_of(size_t size) {
  struct counted c = {size, 0, 0, 0, 0, 0};
  mprof_next_cycle();
  mprof_cycle_flush();
  mprof_cycle_post_sweep();
  mprof_iterate_mem(count_bucket, &c);
  return c;
}

static inline void expect_at(const char *file, int line, size_t size,
                             unsigned buckets, unsigned long long allocs,
                             unsigned long long frees) {
  struct counted c = counted_of(size);
  if (c.buckets == buckets && c.allocs == allocs && c.frees == frees)
    return;
  fprintf(stderr,
          "%s:%d: size %zu: %u buckets, %llu allocs, %llu frees, "
          "expected %u, %llu, %llu\n",
          file, line, size, c.buckets, c.allocs, c.frees, buckets, allocs,
          frees);
  exit(1);
}
#define EXPECT(size, buckets, allocs, frees)                                   \
  expect_at(__FILE__, __LINE__, size, buckets, allocs, frees)

#endif // MPROF_TEST_INPUTS_RECORDS_H
