// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of events of the execution trace, below CALLS recursive calls:
//   region   the begin and the end of a region
//   stacks   a region, reached by a different one of 32 stacks each time
//   read     a read of one byte from /dev/zero
//   expire   a wait for the thread's own semaphore with a timeout that has
//            passed. The time is before 1970, so libc makes no system call.
//   turns    two threads pass a turn to each other by two semaphores. A step is
//            a wait and a post; wall_ns is the length of a turn.
//
// usage: trace_loop KIND CALLS THREADS STEPS REPEATS [TRACE]

#include "stacks.h"

#include <mprof/mprof.h>

#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static int zero;
static struct {
  sem_t never;
  // The semaphores lie a page apart. Neighbouring ones would share a cache
  // line, both themselves and their words in the runtime's table of waiters.
} __attribute__((aligned(4096))) own[BENCH_MAX_THREADS]; // one per thread
static sem_t turns[2];

static void check(int is_as_it_should_be) {
  if (is_as_it_should_be)
    return;
  perror("trace_loop");
  exit(1);
}

#define LOOP(Kind, ...)                                                        \
  static __attribute__((noinline)) void loop_##Kind(int thread, long steps) {  \
    (void)thread;                                                              \
    for (long i = 0; i < steps; i++) {                                         \
      __VA_ARGS__;                                                             \
      bench_sink(&i);                                                          \
    }                                                                          \
  }

enum { WAYS_DEPTH = 5 }; // calls of a way; each bit chooses left or right
static void region(unsigned way) {
  (void)way;
  mprof_trace_region_begin(0, "region");
  mprof_trace_region_end(0, "region");
}

LOOP(region, region(0))
LOOP(stacks, stacks_call((unsigned)i, WAYS_DEPTH, region))
LOOP(read, {
  char byte;
  check(read(zero, &byte, 1) == 1);
})
LOOP(expire, {
  const struct timespec over = {-1, 0};
  check(sem_timedwait(&own[thread].never, &over) == -1);
})
LOOP(turns, {
  check(sem_wait(&turns[thread]) == 0);
  check(sem_post(&turns[!thread]) == 0);
})

static const struct {
  const char *name;
  void (*loop)(int thread, long steps);
} kinds[] = {{"region", loop_region},
             {"stacks", loop_stacks},
             {"read", loop_read},
             {"expire", loop_expire},
             {"turns", loop_turns}};
static void (*loop)(int thread, long steps);

static __attribute__((noinline)) void below(int thread, long steps,
                                            long calls) {
  if (calls > 0)
    below(thread, steps, calls - 1);
  else
    loop(thread, steps);
  bench_sink(&calls); // not a tail call
}

int main(int argc, char **argv) {
  static struct bench b;
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
      loop = kinds[i].loop;
  if (!loop) {
    fprintf(stderr, "%s: the first argument must be a kind\n", argv[0]);
    return 2;
  }
  b.loop = below;
  b.arg = bench_arg(argc, argv, 2);
  b.threads = (int)bench_arg(argc, argv, 3);
  b.steps = bench_arg(argc, argv, 4);
  b.repeats = (int)bench_arg(argc, argv, 5);
  check((zero = open("/dev/zero", O_RDONLY)) >= 0);
  check(sem_init(&turns[0], 0, 1) == 0 && sem_init(&turns[1], 0, 0) == 0);
  for (int i = 0; i < BENCH_MAX_THREADS; i++)
    check(sem_init(&own[i].never, 0, 0) == 0);
  if (loop == loop_turns && b.threads != 2) {
    fprintf(stderr, "%s: two threads take turns\n", argv[0]);
    return 2;
  }
  int error = argc > 6 ? mprof_trace_start(argv[6]) : 0;
  if (error == 0) {
    bench_run(&b);
    error = argc > 6 ? mprof_trace_stop() : 0;
  }
  if (error != 0)
    fprintf(stderr, "%s: trace: %s\n", argv[0], strerror(error));
  return error != 0;
}
