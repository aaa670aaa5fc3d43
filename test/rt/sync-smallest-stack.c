// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads with the smallest stacks that libc permits lock, wait, signal
// and create threads without stack overflow, with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O1 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: counted by all: 800
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <poll.h>
#include <semaphore.h>

enum { THREADS = 4, ROUNDS = 200 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_attr_t attr;
static long count;

static void *nothing(void *arg) { return arg; }

static void *work(void *arg) {
  struct timespec past = {1, 0};
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&barrier); // all at once
    NEED(pthread_mutex_lock(&mutex) == 0);
    count++;
    int waited = pthread_cond_timedwait(&cond, &mutex, &past);
    NEED(waited == ETIMEDOUT || waited == 0);
    NEED(pthread_cond_broadcast(&cond) == 0);
    NEED(pthread_mutex_unlock(&mutex) == 0);
    NEED(pthread_rwlock_wrlock(&rwlock) == 0);
    NEED(pthread_rwlock_unlock(&rwlock) == 0);
    NEED(sem_wait(&semaphore) == 0);
    NEED(sem_post(&semaphore) == 0);
    NEED(poll(NULL, 0, 0) == 0);
    if (i % 50 == 0) {
      pthread_t t;
      NEED(pthread_create(&t, &attr, nothing, NULL) == 0);
      NEED(pthread_join(t, NULL) == 0);
    }
  }
  return arg;
}

int main(void) {
  pthread_t t[THREADS];
  NEED(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  NEED(sem_init(&semaphore, 0, 1) == 0);
  NEED(pthread_attr_init(&attr) == 0);
  NEED(pthread_attr_setstacksize(&attr, SMALLEST_STACK) == 0);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_create(&t[i], &attr, work, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  say("counted by all: %ld", count);
  say("end");
  return 0;
}
