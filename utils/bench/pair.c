// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of one malloc and one free.
//   ring  256 live blocks of 16 to 1024 bytes; each step replaces the oldest
//   lifo  one block of 64 bytes, freed at once
// Compiled with BENCH_LABEL, its threads have a label. Compiled with
// BENCH_COUNTDOWN, it counts the bytes down, and takes no samples. Compiled
// with BENCH_SAMPLER, it takes samples without MProf (least_sampler.h).
//
// usage: pair ring|lifo THREADS PAIRS REPEATS
//        pair ring|lifo THREADS PAIRS turns   (as bench_turns says)

#include "turns.h"

#include <stdbool.h>
#include <string.h>

#ifdef BENCH_LABEL
#include <mprof/mprof.h>
#endif

enum { RING = 256, SIZES = 4096 };

static unsigned short sizes[SIZES];
// Aligned, so that no two threads use the same cache line.
static _Alignas(128) void *rings[BENCH_MAX_THREADS][RING];

static void make_sizes(void) {
  unsigned x = 2463534242u; // xorshift; equal numbers in each run
  for (int i = 0; i < SIZES; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    sizes[i] = (unsigned short)(16 + x % 1009);
  }
}

#if defined(BENCH_SAMPLER)
#include "least_sampler.h"
#elif defined(BENCH_COUNTDOWN)
// What any sampling by bytes costs at least: one subtraction from a
// thread-local word, and a branch, before each malloc.
static __thread size_t countdown;

static __attribute__((noinline, cold)) void reset(void) {
  countdown = (size_t)-1 / 2;
}

static inline void *allocate(size_t size) {
  __asm__("" : "+r"(size)); // makes the compiler subtract in memory
  size_t before = countdown;
  countdown = before - size;
  if (__builtin_expect(before <= size, 0))
    reset();
  return malloc(size);
}
#else
static inline void *allocate(size_t size) { return malloc(size); }
#endif
#ifndef BENCH_SAMPLER
static inline void release(void *p) { free(p); }
#endif

static void ring(int thread, long steps, long arg) {
  (void)arg;
  void **live = rings[thread];
  for (long i = 0; i < steps; i++) {
    void **slot = &live[i % RING];
    release(*slot);
    *slot = allocate(sizes[i % SIZES]);
    bench_sink(*slot);
  }
}

static void lifo(int thread, long steps, long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++) {
    void *p = allocate(64);
    bench_sink(p);
    release(p);
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = argc > 1 && strcmp(argv[1], "ring") == 0 ? ring : lifo;
  b.threads = (int)bench_arg(argc, argv, 2);
  b.steps = bench_arg(argc, argv, 3);
  bool turns = argc > 4 && strcmp(argv[4], "turns") == 0;
  if (!turns)
    b.repeats = (int)bench_arg(argc, argv, 4);
#ifdef BENCH_LABEL
  if (mprof_label_set("request", "benchmark") != 0)
    return 1;
#endif
  make_sizes();
  if (turns)
    bench_turns(&b);
  else
    bench_run(&b);
  return 0;
}
