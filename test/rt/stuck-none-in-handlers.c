// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a healthy program, a signal handler that requests the list of
// stuck threads gets an empty list, whatever wait the handler has interrupted.
// The waits are for a mutex, a condition, a semaphore, an rwlock or a join,
// with SA_RESTART and without.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app

#include "waited.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

enum { WORKERS = 6, SIGNALS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static unsigned long turns;
static atomic_int asked, accused, may_end;

static void handle(int sig) {
  static _Thread_local struct mprof_stack_record records[2 * WORKERS];
  size_t n = 0;
  (void)sig;
  const int error = mprof_thread_leak_profile(records, 2 * WORKERS, &n);
  if (error == 0)
    atomic_fetch_add(&asked, 1);
  if (error == 0 && n > 0)
    atomic_fetch_add(&accused, 1);
}

static void *nothing(void *arg) {
  usleep(100);
  return arg;
}

static void *work(void *arg) {
  const unsigned long id = (unsigned long)arg;
  pthread_t thread;
  while (!atomic_load(&may_end)) {
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_cond_broadcast(&turn);
    for (const unsigned long seen = turns; turns < seen + 2 && !may_end;)
      pthread_cond_wait(&turn, &mutex);
    pthread_mutex_unlock(&mutex);
    while (sem_wait(&sem) != 0)
      ;
    if (id % 2)
      pthread_rwlock_rdlock(&rwlock);
    else
      pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    sem_post(&sem);
    if (id % 3 == 0 && pthread_create(&thread, NULL, nothing, NULL) == 0)
      pthread_join(thread, NULL);
  }
  return NULL;
}

// Ends the waits for a turn, so that no thread is stuck.
static void *drive(void *arg) {
  while (!atomic_load(&may_end)) {
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&mutex);
    usleep(200);
  }
  return arg;
}

int main(void) {
  pthread_t workers[WORKERS], driver;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handle;
  NEED(sem_init(&sem, 0, 2) == 0);
  for (unsigned long i = 0; i < WORKERS; i++)
    NEED(pthread_create(&workers[i], NULL, work, (void *)i) == 0);
  NEED(pthread_create(&driver, NULL, drive, NULL) == 0);
  for (int i = 0; i < SIGNALS; i++) {
    action.sa_flags = i % 2 ? SA_RESTART : 0;
    NEED(sigaction(SIGUSR1, &action, NULL) == 0);
    NEED(pthread_kill(workers[i % WORKERS], SIGUSR1) == 0);
    usleep(1000);
  }
  pthread_mutex_lock(&mutex);
  atomic_store(&may_end, 1);
  pthread_cond_broadcast(&turn);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < WORKERS; i++)
    NEED(pthread_join(workers[i], NULL) == 0);
  NEED(pthread_join(driver, NULL) == 0);
  NEED(atomic_load(&asked) > 0);
  NEED(atomic_load(&accused) == 0);
  return 0;
}
