// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load for the execution trace. Two threads make trace events, at 256 stacks
// each. A step is five events: a region around a call of read and a wait whose
// timeout has passed.
//   events N PATH    traces N events into PATH, which is written at the end
//   seconds N PATH   runs for N seconds, then writes a snapshot of the flight
//                    recorder to PATH
// If PATH is "-", the program starts no trace; only the options may start one.
// Prints "hwm_kib", the peak memory, before and after PATH is written;
// "write_ms", the time to write it; and finally "end", the time in nanoseconds
// of CLOCK_MONOTONIC.
//
// usage: trace_load events|seconds N PATH|-

#include "stacks.h"

#include <mprof/mprof.h>

#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, LEVELS = 8, EVENTS_A_STEP = 5 };

static int zero;
static sem_t never;
static int stop; // atomic

static __attribute__((noinline)) void step(unsigned number) {
  (void)number;
  const struct timespec over = {-1, 0}; // libc returns without a system call
  char byte;
  mprof_trace_region_begin(0, "step");
  if (read(zero, &byte, 1) != 1 || sem_timedwait(&never, &over) == 0)
    exit(1);
  mprof_trace_region_end(0, "step");
}

static void *work(void *steps) {
  const long n = *(const long *)steps;
  for (long i = 0; i < n && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
    stacks_call((unsigned)i, LEVELS, step);
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
