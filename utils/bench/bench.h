// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the benchmark programs: a sink that is opaque to the compiler, and
// a timed loop. The loop is timed inside the process, so the figures exclude
// the process's start and exit. Each repeat prints two lines:
//   ns X       nanoseconds per step of one thread, mean of the threads
//   wall_ns X  nanoseconds per step of all threads together, from the first
//              start to the last end

#ifndef MPROF_BENCH_H
#define MPROF_BENCH_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_MAX_THREADS 16
#define BENCH_MAX_REPEATS 64

static inline long long bench_clock(clockid_t clock) {
  struct timespec ts;
  clock_gettime(clock, &ts);
  return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}
static inline long long bench_now(void) { return bench_clock(CLOCK_MONOTONIC); }

// Makes the compiler believe that p is used, and that memory has changed.
static inline void bench_sink(const void *p) {
  __asm__ volatile("" : : "r"(p) : "memory");
}

static inline long bench_arg(int argc, char **argv, int i) {
  char *end = NULL;
  long n = i < argc ? strtol(argv[i], &end, 10) : -1;
  if (n < 0 || !end || *end) {
    fprintf(stderr, "%s: argument %d must be a number\n", argv[0], i);
    exit(2);
  }
  return n;
}

// --- a thread that sleeps ---

static inline void *bench_sleep(void *p) {
  for (;;) {
    struct timespec ts = {1000, 0};
    nanosleep(&ts, NULL);
  }
  return p;
}

static inline void bench_start_sleeper(void) {
  pthread_t id;
  if (pthread_create(&id, NULL, bench_sleep, NULL) != 0)
    exit(1);
}

// --- a timed loop ---

struct bench {
  void (*loop)(int thread, long steps, long arg);
  int threads;
  int repeats;
  long steps; // of each thread, in each repeat
  long arg;
  pthread_barrier_t start;
  long long begin[BENCH_MAX_THREADS][BENCH_MAX_REPEATS];
  long long end[BENCH_MAX_THREADS][BENCH_MAX_REPEATS];
};

struct bench_thread {
  struct bench *bench;
  int index;
};

// Runs one extra repeat first, as a warm-up; its times are not kept.
static inline void *bench_thread(void *p) {
  struct bench_thread *t = (struct bench_thread *)p;
  struct bench *b = t->bench;
  for (int i = -1; i < b->repeats; i++) {
    if (b->threads > 1)
      pthread_barrier_wait(&b->start);
    long long begin = bench_now();
    b->loop(t->index, b->steps, b->arg);
    long long end = bench_now();
    if (i >= 0) {
      b->begin[t->index][i] = begin;
      b->end[t->index][i] = end;
    }
  }
  return NULL;
}

// Runs the loop and prints nanoseconds per step. A single thread runs in the
// process's first thread, since allocators are cheaper in a process with one
// thread.
static inline void bench_run(struct bench *b) {
  struct bench_thread all[BENCH_MAX_THREADS];
  pthread_t ids[BENCH_MAX_THREADS];
  if (b->threads < 1 || b->threads > BENCH_MAX_THREADS || b->repeats < 1 ||
      b->repeats > BENCH_MAX_REPEATS || b->steps < 1) {
    fprintf(stderr, "1 to %d threads, 1 to %d repeats, at least 1 step\n",
            BENCH_MAX_THREADS, BENCH_MAX_REPEATS);
    exit(2);
  }
  for (int i = 0; i < b->threads; i++) {
    all[i].bench = b;
    all[i].index = i;
  }
  if (b->threads == 1) {
    bench_thread(&all[0]);
  } else {
    pthread_barrier_init(&b->start, NULL, (unsigned)b->threads);
    for (int i = 0; i < b->threads; i++)
      if (pthread_create(&ids[i], NULL, bench_thread, &all[i]) != 0)
        exit(1);
    for (int i = 0; i < b->threads; i++)
      pthread_join(ids[i], NULL);
  }
  for (int i = 0; i < b->repeats; i++) {
    double sum = 0;
    long long first = b->begin[0][i], last = b->end[0][i];
    for (int t = 0; t < b->threads; t++) {
      sum += (double)(b->end[t][i] - b->begin[t][i]);
      first = b->begin[t][i] < first ? b->begin[t][i] : first;
      last = b->end[t][i] > last ? b->end[t][i] : last;
    }
    double all = (double)b->steps * b->threads;
    printf("ns %.3f\nwall_ns %.3f\n", sum / all, (double)(last - first) / all);
  }
}

#endif // MPROF_BENCH_H
