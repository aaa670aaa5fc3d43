// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of malloc(64) and free below DEPTH calls of one function. Also
// prints "frames N": the number of frames of the recorded stack under MProf.
//   shared  all threads have equal stacks, and so share one bucket
//   own     each thread has a different stack, with an equal number of frames
//
// usage: exact DEPTH THREADS PAIRS REPEATS shared|own

#include "bench.h"

#include <mprof/mprof.h>
#include <string.h>

enum { SIZE = 64 };

static int own_stacks;

// Each thread needs its own function, since one function gives one stack.
#define LEAF(N)                                                                \
  static __attribute__((noinline)) void leaf_##N(long steps) {                 \
    for (long i = 0; i < steps; i++) {                                         \
      void *p = malloc(SIZE);                                                  \
      bench_sink(p);                                                           \
      free(p);                                                                 \
    }                                                                          \
  }
LEAF(0)
LEAF(1)
LEAF(2)
LEAF(3)
LEAF(4)
LEAF(5)
LEAF(6)
LEAF(7)
LEAF(8)
LEAF(9)
LEAF(10)
LEAF(11)
LEAF(12)
LEAF(13)
LEAF(14)
LEAF(15)

static void (*const leaves[BENCH_MAX_THREADS])(long) = {
    leaf_0, leaf_1, leaf_2,  leaf_3,  leaf_4,  leaf_5,  leaf_6,  leaf_7,
    leaf_8, leaf_9, leaf_10, leaf_11, leaf_12, leaf_13, leaf_14, leaf_15};

static __attribute__((noinline)) void descend(int thread, long depth,
                                              long steps) {
  if (depth > 0)
    descend(thread, depth - 1, steps);
  else
    leaves[own_stacks ? thread : 0](steps);
  bench_sink(NULL); // not a tail call
}

static void loop(int thread, long steps, long depth) {
  descend(thread, depth, steps);
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
  own_stacks = argc > 5 && strcmp(argv[5], "own") == 0;
  bench_run(&b);
  size_t found[2] = {0, 0};
  mprof_next_cycle();
  mprof_cycle_post_sweep();
  mprof_iterate_mem(note_frames, found);
  printf("frames %zu\n", found[1]);
  return 0;
}
