// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of malloc(64) and free below DEPTH calls of one function. Under
// MProf it also prints, as "frames N", how many frames the recorded stack has.
// All threads have the same stack, so they share one bucket.
//
// usage: exact DEPTH THREADS PAIRS REPEATS

#include "bench.h"

#include <mprof/mprof.h>

enum { SIZE = 64 };

static __attribute__((noinline)) void descend(long depth, long steps) {
  if (depth > 0) {
    descend(depth - 1, steps);
    bench_sink(NULL); // not a tail call
    return;
  }
  for (long i = 0; i < steps; i++) {
    void *p = malloc(SIZE);
    bench_sink(p);
    free(p);
  }
}

static void loop(int thread, long steps, long depth) {
  (void)thread;
  descend(depth, steps);
  bench_sink(NULL);
}

static void note_frames(const struct mprof_mem_bucket *bucket, void *arg) {
  size_t *most_allocs = arg, *frames = most_allocs + 1;
  if (bucket->size == SIZE && bucket->allocs > *most_allocs) {
    *most_allocs = bucket->allocs;
    *frames = bucket->stack_len;
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = loop;
  b.arg = bench_arg(argc, argv, 1);
  b.threads = (int)bench_arg(argc, argv, 2);
  b.steps = bench_arg(argc, argv, 3);
  b.repeats = (int)bench_arg(argc, argv, 4);
  bench_run(&b);
  size_t found[2] = {0, 0};
  mprof_next_cycle();
  mprof_post_sweep();
  mprof_iterate_mem(note_frames, found);
  printf("frames %zu\n", found[1]);
  return 0;
}
