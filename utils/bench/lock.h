// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs with locks share, in C and C++: work of a known length, a
// second thread that only sleeps, a contest of several threads for a fixed
// time, and the number of events that MProf has recorded.

#ifndef MPROF_BENCH_LOCK_H
#define MPROF_BENCH_LOCK_H

#include "bench.h"

#include <mprof/mprof.h>

// Steps of work inside and outside of a critical section: about 1 us and
// 0.2 us, the same for every variant.
enum { LOCK_INSIDE = 850, LOCK_OUTSIDE = 170 };

static inline unsigned long lock_work(unsigned long x, int steps) {
  for (int i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x)); // one multiplication after the other
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

// From now on this is a process with threads, for which glibc's mutexes take
// their longer path.
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
  long sections;                 // that this thread has run
} __attribute__((aligned(128))); // nobody else's cache line

struct lock_contest {
  void (*play)(struct lock_player *p); // until lock_is_over
  int threads;
  int repeats;
  long milliseconds; // of each repeat
  pthread_barrier_t start;
  int stop;      // atomic
  long sections; // of all repeats, the first included
  long of_first; // those of thread 0
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

// One repeat; gives critical sections a second.
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

// Prints a line "per_second VALUE" for each repeat, then "sections N" of them
// all. One repeat more than asked for comes first and is not kept.
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

// --- what MProf has recorded ---

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

// Prints "block N" and "mutex N": events, both 0 without MProf.
static inline void lock_print_profiles(void) {
  lock_print_profile("block", mprof_block_profile);
  lock_print_profile("mutex", mprof_mutex_profile);
}

#endif // MPROF_BENCH_LOCK_H
