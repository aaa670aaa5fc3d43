// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads that do what is traced, at 256 stacks each: a region around a
// call of read and a wait whose time is over, five events in all.
//   events N PATH    traces N events into PATH, which is written at the end
//   seconds N PATH   goes on for so long, then PATH is what a recorder has
// PATH - is for no trace but that of the options. Prints "hwm_kib", the peak of
// the memory, before and after PATH is written; "write_ms", how long that took;
// and at last "end", the time in CLOCK_MONOTONIC nanoseconds.
//
// usage: trace_load events|seconds N PATH|-

#include "bench.h"

#include <mprof/mprof.h>

#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, LEVELS = 8, EVENTS_A_STEP = 5 };

static int zero;
static sem_t never;
static int stop; // atomic

static __attribute__((noinline)) void step(void) {
  const struct timespec over = {-1, 0}; // no call of the kernel
  char byte;
  mprof_trace_region_begin(0, "step");
  if (read(zero, &byte, 1) != 1 || sem_timedwait(&never, &over) == 0)
    exit(1);
  mprof_trace_region_end(0, "step");
}

static void left(unsigned number, int level);
static void right(unsigned number, int level);

// Another stack for each number.
static inline __attribute__((always_inline)) void down(unsigned number,
                                                       int level) {
  if (level == 0)
    step();
  else if (number >> (level - 1) & 1)
    right(number, level - 1);
  else
    left(number, level - 1);
  bench_sink(&number); // not a tail call
}

static __attribute__((noinline)) void left(unsigned number, int level) {
  down(number, level);
}

static __attribute__((noinline)) void right(unsigned number, int level) {
  down(number, level);
}

static void *work(void *steps) {
  const long n = *(const long *)steps;
  for (long i = 0; i < n && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
    left((unsigned)i, LEVELS);
  return NULL;
}

static void print_peak(void) {
  char line[256];
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof(line), f))
    if (strncmp(line, "VmHWM:", 6) == 0)
      printf("hwm_kib %ld\n", strtol(line + 6, NULL, 10));
  if (!f || fclose(f) != 0)
    exit(1);
}

static void check(const char *what, int error) {
  if (error == 0)
    return;
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(1);
}

int main(int argc, char **argv) {
  const int is_timed = argc > 1 && strcmp(argv[1], "seconds") == 0;
  const long n = bench_arg(argc, argv, 2);
  const char *path = argc > 3 && strcmp(argv[3], "-") != 0 ? argv[3] : NULL;
  long steps = is_timed ? __LONG_MAX__ : n / EVENTS_A_STEP / THREADS;
  pthread_t ids[THREADS];
  zero = open("/dev/zero", O_RDONLY);
  sem_init(&never, 0, 0);
  if (path && !is_timed)
    check("trace", mprof_trace_start(path));
  for (int i = 0; i < THREADS; i++)
    check("thread", pthread_create(&ids[i], NULL, work, &steps));
  if (is_timed) {
    sleep((unsigned)n);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(ids[i], NULL);
  print_peak();
  const long long begin = bench_now();
  if (path && is_timed)
    check("snapshot", mprof_trace_snapshot(path));
  else if (path)
    check("trace", mprof_trace_stop());
  printf("write_ms %.3f\n", (double)(bench_now() - begin) / 1e6);
  print_peak();
  printf("end %lld\n", bench_now());
  return 0;
}
