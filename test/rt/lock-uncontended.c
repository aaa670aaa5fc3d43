// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a lock without waiters is in neither the block profile nor the mutex
// profile. With stack_depth=0, or with these profiles off, a lock with waiters
// is not recorded either.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t free
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:stack_depth=0} %t contended
// RUN: %run_quiet %t contended

#include "waited.h"

#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void take(void *arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void uncontended(void) {
  pthread_spinlock_t spin;
  sem_t sem;
  NEED(pthread_spin_init(&spin, 0) == 0 && sem_init(&sem, 0, 0) == 0);
  for (int i = 0; i < 1000000; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < 10000; i++) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    sem_post(&sem);
    sem_wait(&sem);
  }
}

static void contended(void) {
  struct thread t;
  pthread_mutex_lock(&mutex);
  start_waiting(&t, take, NULL, &mutex, sizeof(mutex));
  pthread_mutex_unlock(&mutex);
  // Joining would be a wait.
  while (pthread_tryjoin_np(t.id, NULL) != 0)
    usleep(1000);
}

int main(int argc, char **argv) {
  size_t n;
  NEED(argc == 2);
  if (strcmp(argv[1], "free") == 0)
    uncontended();
  else
    contended();
  NEED(mprof_block_profile(NULL, 0, &n) == 0 && n == 0);
  NEED(mprof_mutex_profile(NULL, 0, &n) == 0 && n == 0);
  return 0;
}
