// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the lock benchmarks, in C and C++: work of a known length, a second
// thread that only sleeps, a contest of several threads for a fixed time, and
// the number of events that MProf has recorded.

#ifndef MPROF_BENCH_LOCK_H
#define MPROF_BENCH_LOCK_H

#include "bench.h"

#include <mprof/mprof.h>

// Steps of work inside and outside a critical section: about 1 us and 0.2 us
// for each variant.
enum { LOCK_INSIDE = 850, LOCK_OUTSIDE = 170 };

static inline unsigned long lock_work(unsigned long x, int steps) {
  for (int i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x)); // keeps the multiplications sequential
  }
  return x;
}

#define BENCH_OWN_LINE __attribute__((aligned(64)))

// --- a thread that sleeps ---

static inline void *lock_sleeper(void *p) {
  for (;;) {
    struct timespec ts = {1000, 0};
    nanosleep(&ts, NULL);
  }
  return p;
}

// Starts a second thread. In a process with several threads, glibc's mutexes
// take their longer path.
static inline void lock_start_sleeper(void) {
  pthread_t id;
  if (pthread_create(&id, NULL, lock_sleeper, NULL) != 0)
    exit(1);
}

// --- a contest ---

struct lock_contest;

struct lock_player {
  struct lock_contest *contest;
  int index;
  long sections;                 // critical sections run by this thread
} __attribute__((aligned(128))); // shares no cache line with another player

struct lock_contest {
  void (*play)(struct lock_player *p); // runs until lock_is_over
  int threads;
  int repeats;
  long milliseconds; // of each repeat
  pthread_barrier_t start;
  int stop;      // atomic
  long sections; // sections of all repeats, the warm-up included
  long of_first; // sections of thread 0
  struct lock_player players[BENCH_MAX_THREADS];
};

static inline int lock_is_over(const struct lock_player *p) {
  return __atomic_load_n(&p->contest->stop, __ATOMIC_RELAXED);
}

static inline void *lock_play(void *arg) {
  struct lock_player *p = (struct lock_player *)arg;
  pthread_barrier_wait(&p->contest->start);
  p->contest->play(p);
  return NULL;
}

// Runs one repeat. Returns critical sections per second.
static inline double lock_contest_once(struct lock_contest *c) {
  pthread_t ids[BENCH_MAX_THREADS];
  struct timespec length = {c->milliseconds / 1000,
                            c->milliseconds % 1000 * 1000000};
  long sections = 0;
  __atomic_store_n(&c->stop, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < c->threads; i++) {
    c->players[i].contest = c;
    c->players[i].index = i;
    c->players[i].sections = 0;
    if (pthread_create(&ids[i], NULL, lock_play, &c->players[i]) != 0)
      exit(1);
  }
  pthread_barrier_wait(&c->start);
  long long begin = bench_now();
  nanosleep(&length, NULL);
  __atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
  long long end = bench_now();
  for (int i = 0; i < c->threads; i++) {
    pthread_join(ids[i], NULL);
    sections += c->players[i].sections;
  }
  c->sections += sections;
  c->of_first += c->players[0].sections;
  return (double)sections * 1e9 / (double)(end - begin);
}

// Prints a line "per_second VALUE" for each repeat, then "sections N" for all
// repeats together. An extra repeat comes first as a warm-up. It is not
// printed, but counts in "sections".
static inline void lock_contest_run(struct lock_contest *c) {
  if (c->threads < 2 || c->threads > BENCH_MAX_THREADS || c->milliseconds < 1) {
    fprintf(stderr, "2 to %d threads, at least 1 ms\n", BENCH_MAX_THREADS);
    exit(2);
  }
  pthread_barrier_init(&c->start, NULL, (unsigned)c->threads + 1);
  for (int i = -1; i < c->repeats; i++) {
    double per_second = lock_contest_once(c);
    if (i >= 0)
      printf("per_second %.1f\n", per_second);
  }
  printf("sections %ld\n", c->sections);
}

// --- events that MProf has recorded ---

typedef int lock_profile(struct mprof_block_record *records, size_t len,
                         size_t *n);

static inline void lock_print_profile(const char *name, lock_profile *profile) {
  enum { MOST = 4096 };
  static struct mprof_block_record records[MOST];
  size_t n = 0;
  long long events = 0;
  int error = profile(records, MOST, &n);
  if (error != 0) {
    fprintf(stderr, "%s profile: error %d, %zu records\n", name, error, n);
    exit(1);
  }
  for (size_t i = 0; i < n; i++)
    events += records[i].count;
  printf("%s %lld\n", name, events);
}

// Prints "block N" and "mutex N": the events in each profile. Both are 0
// without MProf.
static inline void lock_print_profiles(void) {
  lock_print_profile("block", mprof_block_profile);
  lock_print_profile("mutex", mprof_mutex_profile);
}

#endif // MPROF_BENCH_LOCK_H
