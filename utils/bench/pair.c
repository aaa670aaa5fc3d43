// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of one malloc and one free.
//   ring  256 live blocks of 16 to 1024 bytes; each step replaces the oldest
//   lifo  one block of 64 bytes, freed at once
//
// usage: pair ring|lifo THREADS PAIRS REPEATS

#include "bench.h"

#include <string.h>

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

static void ring(int thread, long steps, long arg) {
  (void)arg;
  void **live = rings[thread];
  for (long i = 0; i < steps; i++) {
    void **slot = &live[i % RING];
    free(*slot);
    *slot = malloc(sizes[i % SIZES]);
    bench_sink(*slot);
  }
}

static void lifo(int thread, long steps, long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++) {
    void *p = malloc(64);
    bench_sink(p);
    free(p);
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = argc > 1 && strcmp(argv[1], "ring") == 0 ? ring : lifo;
  b.threads = (int)bench_arg(argc, argv, 2);
  b.steps = bench_arg(argc, argv, 3);
  b.repeats = (int)bench_arg(argc, argv, 4);
  make_sizes();
  bench_run(&b);
  return 0;
}
