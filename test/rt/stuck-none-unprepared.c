// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program whose locks are not instrumented, healthy threads pass
// mutexes and rwlocks to one another. No thread is reported as stuck, although
// the owner of each lock may itself wait for another lock at another moment.
// Meanwhile other threads, which are not registered with MProf, wait for a
// mutex and end.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof=heap -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app
// RUN: %mprof_clang -fmprof=heap -static -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app

#include "waited.h"

enum { LOCKS = 4, THREADS = 6, REQUESTS = 400 };
static pthread_mutex_t mutexes[LOCKS];
static pthread_rwlock_t rwlocks[LOCKS];
static int ends;

static unsigned next_random(unsigned *state) {
  return (*state = *state * 1103515245u + 12345u) >> 16;
}

// Takes pairs of locks, both in the order of their numbers and, with a try
// lock, against it. So no deadlock can occur, but at different moments each
// lock is awaited by a holder of each other one.
static void *contend(void *arg) {
  unsigned state = (unsigned)(uintptr_t)arg;
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
    const unsigned i = next_random(&state) % LOCKS;
    const unsigned k = next_random(&state) % LOCKS;
    if (i < k) {
      pthread_mutex_lock(&mutexes[i]);
      pthread_mutex_lock(&mutexes[k]);
      pthread_mutex_unlock(&mutexes[k]);
      pthread_mutex_unlock(&mutexes[i]);
    } else if (i > k) {
      pthread_rwlock_wrlock(&rwlocks[i]);
      if (pthread_mutex_trylock(&mutexes[k]) == 0)
        pthread_mutex_unlock(&mutexes[k]);
      if (state & 1)
        pthread_rwlock_wrlock(&rwlocks[k]);
      else
        pthread_rwlock_rdlock(&rwlocks[k]);
      pthread_rwlock_unlock(&rwlocks[k]);
      pthread_rwlock_unlock(&rwlocks[i]);
    }
  }
  return arg;
}

static void *once(void *arg) {
  pthread_mutex_lock(&mutexes[0]);
  pthread_mutex_unlock(&mutexes[0]);
  return arg;
}

// Creates threads that end soon. So the ids of ended threads are in locks.
static void *create(void *arg) {
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
    pthread_t t;
    NEED(pthread_create(&t, NULL, once, NULL) == 0);
    NEED(pthread_join(t, NULL) == 0);
  }
  return arg;
}

int main(void) {
  pthread_t threads[THREADS + 1];
  for (int i = 0; i < LOCKS; i++) {
    NEED(pthread_mutex_init(&mutexes[i], NULL) == 0);
    NEED(pthread_rwlock_init(&rwlocks[i], NULL) == 0);
  }
  for (uintptr_t i = 0; i < THREADS; i++)
    NEED(pthread_create(&threads[i], NULL, contend, (void *)(i + 1)) == 0);
  NEED(pthread_create(&threads[THREADS], NULL, create, NULL) == 0);
  for (int i = 0; i < REQUESTS; i++) {
    struct mprof_stack_record records[THREADS];
    size_t n = 1;
    CHECK_EQ(mprof_thread_leak_profile(records, THREADS, &n), 0);
    CHECK_EQ(n, 0);
  }
  __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
  for (int i = 0; i <= THREADS; i++)
    NEED(pthread_join(threads[i], NULL) == 0);
  return 0;
}
