// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timed loop in a process that lives long and waits between its turns, so
// that another process can take turns with it. Include it first, as it needs
// _GNU_SOURCE.

#ifndef MPROF_BENCH_TURNS_H
#define MPROF_BENCH_TURNS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // for sched_setaffinity and RUSAGE_THREAD
#endif

#include "bench.h"

#include <sched.h>
#include <sys/resource.h>

struct bench_turns {
  struct bench *bench;
  long long ns[BENCH_MAX_THREADS]; // of the latest turn
  long waits[BENCH_MAX_THREADS];   // in the latest turn
};

// Keeps a thread on one processor, so that two threads of a turn never share
// one while another is idle. Thread n gets the nth processor that the process
// may use.
static inline void bench_pin(int thread) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof(all), &all) != 0)
    return;
  int nth = thread % CPU_COUNT(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all) || nth-- > 0)
      continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

// Returns how often the calling thread has waited, for example for a lock.
static inline long bench_waits(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

// The time is processor time, so that a turn is not longer if another program
// takes the processor. Waits use no processor time, so they are counted.
static inline void bench_turn(struct bench_turns *turns, int thread) {
  struct bench *b = turns->bench;
  long waits = bench_waits();
  long long begin = bench_clock(CLOCK_THREAD_CPUTIME_ID);
  b->loop(thread, b->steps, b->arg);
  turns->ns[thread] = bench_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  turns->waits[thread] = bench_waits() - waits;
}

struct bench_turns_thread {
  struct bench_turns *turns;
  int index;
};

// Runs the turns of one thread. The barrier opens before and after each turn.
static inline void *bench_turns_thread(void *p) {
  struct bench_turns_thread *t = (struct bench_turns_thread *)p;
  bench_pin(t->index);
  for (;;) {
    pthread_barrier_wait(&t->turns->bench->start);
    bench_turn(t->turns, t->index);
    pthread_barrier_wait(&t->turns->bench->start);
  }
  return NULL;
}

static inline void bench_turns_start(struct bench_turns *turns) {
  static struct bench_turns_thread all[BENCH_MAX_THREADS];
  struct bench *b = turns->bench;
  pthread_barrier_init(&b->start, NULL, (unsigned)b->threads + 1);
  for (int i = 0; i < b->threads; i++) {
    pthread_t id;
    all[i].turns = turns;
    all[i].index = i;
    if (pthread_create(&id, NULL, bench_turns_thread, &all[i]) != 0)
      exit(1);
  }
}

// Runs one turn for each byte on standard input, until the input ends. A turn
// is b->steps steps in each thread. Prints a line after each turn: nanoseconds
// of processor time per step, mean of the threads, and how often the threads
// waited during the turn. The threads live from the first turn to the last. A
// single thread is the process's first thread, as in bench_run.
static inline void bench_turns(struct bench *b) {
  static struct bench_turns turns;
  turns.bench = b;
  if (b->threads < 1 || b->threads > BENCH_MAX_THREADS || b->steps < 1) {
    fprintf(stderr, "1 to %d threads, at least 1 step\n", BENCH_MAX_THREADS);
    exit(2);
  }
  if (b->threads == 1)
    bench_pin(0);
  else
    bench_turns_start(&turns);
  while (getchar() != EOF) {
    if (b->threads == 1) {
      bench_turn(&turns, 0);
    } else {
      pthread_barrier_wait(&b->start);
      pthread_barrier_wait(&b->start);
    }
    double ns = 0;
    long waits = 0;
    for (int t = 0; t < b->threads; t++) {
      ns += (double)turns.ns[t];
      waits += turns.waits[t];
    }
    printf("%.4f %ld\n", ns / ((double)b->steps * b->threads), waits);
    fflush(stdout);
  }
}

#endif // MPROF_BENCH_TURNS_H
