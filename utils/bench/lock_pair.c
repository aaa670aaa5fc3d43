// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of one uncontended lock and unlock around the increment of a
// counter.
//   none                     the increment alone
//   mutex, rdlock, wrlock    the kind of the lock
// SLEEPERS is 0 for a process with one thread, and 1 for a process with a
// second thread, which sleeps. callgrind counts the instructions of count_KIND.
//
// usage: lock_pair none|mutex|rdlock|wrlock SLEEPERS PAIRS REPEATS

#include "lock.h"

#include <string.h>

// Each object has its own cache line in each variant. If the counter shared a
// line with the lock, the time of a pair would change by 1 ns.
static pthread_mutex_t mutex BENCH_OWN_LINE = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock BENCH_OWN_LINE = PTHREAD_RWLOCK_INITIALIZER;
static long counter BENCH_OWN_LINE;

static inline void add(void) {
  counter++;
  bench_sink(&counter);
}

static __attribute__((noinline)) void count_none(int thread, long steps,
                                                 long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++)
    add();
}

static __attribute__((noinline)) void count_mutex(int thread, long steps,
                                                  long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++) {
    pthread_mutex_lock(&mutex);
    add();
    pthread_mutex_unlock(&mutex);
  }
}

static __attribute__((noinline)) void count_rdlock(int thread, long steps,
                                                   long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++) {
    pthread_rwlock_rdlock(&rwlock);
    add();
    pthread_rwlock_unlock(&rwlock);
  }
}

static __attribute__((noinline)) void count_wrlock(int thread, long steps,
                                                   long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++) {
    pthread_rwlock_wrlock(&rwlock);
    add();
    pthread_rwlock_unlock(&rwlock);
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  const char *kind = argc > 1 ? argv[1] : "";
  b.loop = strcmp(kind, "mutex") == 0    ? count_mutex
           : strcmp(kind, "rdlock") == 0 ? count_rdlock
           : strcmp(kind, "wrlock") == 0 ? count_wrlock
                                         : count_none;
  b.threads = 1;
  b.steps = bench_arg(argc, argv, 3);
  b.repeats = (int)bench_arg(argc, argv, 4);
  if (bench_arg(argc, argv, 2) > 0)
    lock_start_sleeper();
  bench_run(&b);
  lock_print_profiles();
  return 0;
}
