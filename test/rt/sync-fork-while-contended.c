// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process that forks while its other threads lock, wait and create
// threads has a working child. The child can lock, wait and create threads,
// with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: 150 children did all of it
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/wait.h>

enum { CHILDREN = 150 };
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static sem_t done_sem;
static int done;

static void *nothing(void *arg) { return arg; }

static void contend(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&busy);
    for (volatile int i = 0; i < 200; i++)
      ;
    pthread_mutex_unlock(&busy);
    struct timespec past = {1, 0};
    sem_timedwait(&done_sem, &past);
    poll(NULL, 0, 0);
  }
}

static void create(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    pthread_t t;
    if (pthread_create(&t, NULL, nothing, NULL) == 0)
      pthread_join(t, NULL);
  }
}

// The child uses locks that it makes itself. Other locks may be held by threads
// that it does not have.
static pthread_mutex_t own;
static pthread_cond_t own_cond;
static sem_t own_sem;
static int ready, woken;

static void *lock_own(void *arg) {
  NEED(sem_post(&own_sem) == 0);
  NEED(pthread_mutex_lock(&own) == 0);
  while (!ready)
    NEED(pthread_cond_wait(&own_cond, &own) == 0);
  woken = 1;
  NEED(pthread_mutex_unlock(&own) == 0);
  return arg;
}

static void live_in_child(void) {
  struct timespec past = {1, 0};
  pthread_t t;
  void *value;
  NEED(pthread_mutex_init(&own, NULL) == 0);
  NEED(pthread_cond_init(&own_cond, NULL) == 0);
  NEED(sem_init(&own_sem, 0, 0) == 0);
  NEED(pthread_mutex_lock(&own) == 0);
  NEED(pthread_mutex_timedlock(&own, &past) == ETIMEDOUT);
  NEED(pthread_create(&t, NULL, lock_own, &t) == 0);
  NEED(sem_wait(&own_sem) == 0);
  usleep(100); // the thread may wait for the mutex now
  ready = 1;
  NEED(pthread_cond_signal(&own_cond) == 0);
  NEED(pthread_mutex_unlock(&own) == 0);
  NEED(pthread_join(t, &value) == 0 && value == &t && woken);
  NEED(sem_timedwait(&own_sem, &past) == -1 && errno == ETIMEDOUT);
}

int main(void) {
  NEED(sem_init(&done_sem, 0, 0) == 0);
  struct thread t[3];
  start(&t[0], contend, NULL);
  start(&t[1], contend, NULL);
  start(&t[2], create, NULL);
  int lived = 0;
  for (int i = 0; i < CHILDREN; i++) {
    pid_t pid = fork();
    NEED(pid >= 0);
    if (pid == 0) {
      alarm(300); // ends a child that hangs
      live_in_child();
      _exit(0);
    }
    int status;
    NEED(waitpid(pid, &status, 0) == pid);
    lived += status == 0;
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++)
    finish(&t[i]);
  say("%d children did all of it", lived);
  say("end");
  return 0;
}
