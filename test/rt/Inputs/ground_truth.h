// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the exact profile of a program with the calls of its allocator, size
// by size, from a point in main to the end of the process. The program is run
// with heap_rate=0 and with ground_truth.so preloaded. In sampled mode nothing
// is compared.

#ifndef MPROF_TEST_RT_INPUTS_GROUND_TRUTH_H
#define MPROF_TEST_RT_INPUTS_GROUND_TRUTH_H

#include <mprof/mprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct truth {
  size_t size;
  unsigned long long allocs, frees;
};
void truth_start(void) __attribute__((weak));
void truth_stop(void) __attribute__((weak));
struct truth truth_of(size_t size) __attribute__((weak));
// Returns the entry after t, or the first entry if t is NULL.
const struct truth *truth_next(const struct truth *t) __attribute__((weak));

#ifdef __cplusplus
}
#endif

struct truth_sum {
  size_t size;
  unsigned long long allocs, frees;
};

static inline void truth_add(const struct mprof_mem_bucket *b, void *arg) {
  struct truth_sum *s = (struct truth_sum *)arg;
  if (b->size == s->size || s->size == SIZE_MAX) {
    s->allocs += b->allocs;
    s->frees += b->frees;
  }
}

// Runs last, when the program has freed its blocks.
static void truth_compare(void) {
  unsigned long long blocks = 0, live = 0, wrong = 0;
  truth_stop();
  mprof_set_heap_rate(0);
  mprof_next_cycle();
  for (const struct truth *t = truth_next(NULL); t; t = truth_next(t)) {
    struct truth_sum s = {t->size, 0, 0};
    mprof_iterate_mem(truth_add, &s);
    blocks += t->allocs;
    live += t->allocs - t->frees;
    if (s.allocs == t->allocs && s.frees == t->frees)
      continue;
    wrong++;
    fprintf(stderr,
            "size %zu: %llu allocated, %llu freed; profile: %llu, %llu\n",
            t->size, t->allocs, t->frees, s.allocs, s.frees);
  }
  struct truth_sum all = {SIZE_MAX, 0, 0};
  mprof_iterate_mem(truth_add, &all);
  fprintf(stderr, "%llu blocks, %llu live; profile: %llu, %llu\n", blocks, live,
          all.allocs, all.allocs - all.frees);
  if (wrong || all.allocs != blocks || blocks < 100)
    _exit(1);
}

static inline void truth_begin(void) {
  if (!truth_start)
    return;
  atexit(truth_compare); // runs after handlers that are registered later
  truth_start();
  mprof_set_heap_rate(1);
}

#endif // MPROF_TEST_RT_INPUTS_GROUND_TRUTH_H
