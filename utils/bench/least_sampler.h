// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The least that a sampling heap profiler does, without MProf. It decides as
// MProf does which blocks are sampled, by a countdown of bytes. A sampled block
// lies on a page boundary, so that the free of another block is recognized by
// its address alone. For each size it counts the sampled blocks and their
// frees. It knows no stacks, and no thread can free a block of another one.

#ifndef MPROF_BENCH_LEAST_SAMPLER_H
#define MPROF_BENCH_LEAST_SAMPLER_H

#include "bench.h"

#include <stdint.h>
#include <stdlib.h>

enum { SAMPLER_BLOCKS = 8, SAMPLER_PAGES = 4096, SAMPLER_SIZES = 2048 };
static const double sampler_rate = 512 << 10; // mean bytes between two samples

struct sampler {
  void *unused[SAMPLER_BLOCKS];        // blocks on page boundaries
  unsigned short sizes[SAMPLER_PAGES]; // of live samples; 0: no sample
  struct {
    unsigned long allocs, frees;
  } counts[SAMPLER_SIZES];
  uint32_t random;
};
static _Alignas(128) struct sampler sampler_of[BENCH_MAX_THREADS];
static int sampler_count;
static __thread struct sampler *sampler;
static __thread size_t sampler_countdown;

static inline unsigned short *sampler_size_at(const void *p) {
  return &sampler->sizes[(uintptr_t)p / 4096 % SAMPLER_PAGES];
}

static inline void sampler_start(void) {
  const int i = __atomic_fetch_add(&sampler_count, 1, __ATOMIC_RELAXED);
  sampler = &sampler_of[i];
  sampler->random = 2463534242u + (uint32_t)i;
  for (int k = 0; k < SAMPLER_BLOCKS; k++)
    if (posix_memalign(&sampler->unused[k], 4096, 4096 - 40) != 0)
      abort();
}

// Returns a distance of about the exponential distribution. The logarithm is
// that of the exponent, and linear between powers of 2, so it needs no table.
static inline size_t sampler_distance(uint32_t random) {
  const uint32_t q = random | 1;
  const int exponent = 31 - __builtin_clz(q);
  const double log2_q = exponent + ((double)q / (1u << exponent) - 1);
  return (size_t)((32 - log2_q) * 0.693 * sampler_rate) + 1;
}

static __attribute__((noinline)) void *sampler_allocate(size_t size) {
  void *p = NULL;
  if (!sampler)
    sampler_start();
  sampler->random ^= sampler->random << 13; // xorshift
  sampler->random ^= sampler->random >> 17;
  sampler->random ^= sampler->random << 5;
  sampler_countdown = sampler_distance(sampler->random);
  for (int i = 0; i < SAMPLER_BLOCKS && !p; i++) {
    p = sampler->unused[i];
    sampler->unused[i] = NULL;
  }
  if (!p)
    return malloc(size);
  *sampler_size_at(p) = (unsigned short)size;
  sampler->counts[size % SAMPLER_SIZES].allocs++;
  return p;
}

static __attribute__((noinline)) void sampler_free(void *p) {
  const size_t size = sampler ? *sampler_size_at(p) : 0;
  if (size != 0) {
    *sampler_size_at(p) = 0;
    sampler->counts[size % SAMPLER_SIZES].frees++;
    for (int i = 0; i < SAMPLER_BLOCKS; i++) {
      if (!sampler->unused[i]) {
        sampler->unused[i] = p;
        return;
      }
    }
  }
  free(p);
}

static inline void *allocate(size_t size) {
  __asm__("" : "+r"(size)); // makes the compiler subtract in memory
  const size_t before = sampler_countdown;
  sampler_countdown = before - size;
  return __builtin_expect(before <= size, 0) ? sampler_allocate(size)
                                             : malloc(size);
}

static inline void release(void *p) {
  if (__builtin_expect((uintptr_t)p % 4096 == 0, 0))
    sampler_free(p);
  else
    free(p);
}

#endif // MPROF_BENCH_LEAST_SAMPLER_H
