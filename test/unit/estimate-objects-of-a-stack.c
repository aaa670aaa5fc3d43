// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the estimated number of objects at a stack differs from the exact sum
// by less than one, for each mix of block sizes. No sample has more objects in
// use than allocated. Over many stacks with one sample each, the sum is
// unbiased.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "snapshot/snapshot.h"

#include <math.h>

enum { STACKS = 20000, RATE = 524288 };

static struct mprof_mem_sample samples[STACKS];
static struct mprof_heapx_sample heapx[STACKS];
static uint64_t state = 1;

static uint64_t below(uint64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % n;
}

static struct mprof_mem_sample sample(mprof_pc pc, size_t size, uint64_t allocs,
                                      uint64_t frees) {
  struct mprof_bucket *b = calloc(1, sizeof(*b) + sizeof(pc));
  CHECK(b != NULL);
  b->size = size;
  b->rate = RATE;
  b->stack_len = 1;
  b->stack[0] = pc;
  return (struct mprof_mem_sample){
      .bucket = b, .allocs = allocs, .frees = frees};
}

static double scaled(const struct mprof_mem_sample *s, uint64_t n) {
  return (double)n / (1 - exp(-(double)s->bucket->size / RATE));
}

// Makes n samples of one stack: sizes from 1 byte to 2 MB, and each relation of
// frees to allocations.
static void check_one_stack(mprof_pc pc, size_t n) {
  struct mprof_mem_snapshot s = {.samples = samples, .heapx = heapx, .len = n};
  double alloc = 0, inuse = 0, moved = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t allocs = below(4);
    uint64_t frees = below(2) ? 0 : below(allocs + 1);
    samples[i] = sample(pc, 1 + below(2 << below(21)), allocs, frees);
    heapx[i] =
        (struct mprof_heapx_sample){.n = {[MPROF_HEAPX_MOVED] = below(3)}};
    alloc += scaled(&samples[i], allocs);
    inuse += scaled(&samples[i], allocs - frees);
    moved += scaled(&samples[i], heapx[i].n[MPROF_HEAPX_MOVED]);
  }
  CHECK_EQ(mprof_estimate_objects(&s), 0);
  for (size_t i = 0; i < n; i++) {
    CHECK(samples[i].inuse_objects >= 0);
    CHECK(samples[i].inuse_objects <= samples[i].alloc_objects);
    alloc -= (double)samples[i].alloc_objects;
    inuse -= (double)samples[i].inuse_objects;
    moved -= (double)heapx[i].moved;
    free((void *)samples[i].bucket);
  }
  CHECK(fabs(alloc) < 1);
  CHECK(fabs(inuse) < 1);
  CHECK(fabs(moved) < 1);
}

int main(void) {
  for (mprof_pc pc = 1; pc <= 2000; pc++)
    check_one_stack(pc * 4096, 1 + below(60));

  // One sample of a block that represents about 1.4 objects, at each stack.
  struct mprof_mem_snapshot s = {.samples = samples, .len = STACKS};
  for (size_t i = 0; i < STACKS; i++)
    samples[i] = sample(0x400000 + 16 * i, 656000, 1, 0);
  CHECK_EQ(mprof_estimate_objects(&s), 0);
  double sum = 0, one = scaled(&samples[0], 1);
  for (size_t i = 0; i < STACKS; i++)
    sum += (double)samples[i].alloc_objects;
  double part = one - floor(one);
  CHECK(fabs(sum - STACKS * one) < 5 * sqrt(STACKS * part * (1 - part)));
  return 0;
}
