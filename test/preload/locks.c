// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program that was built without MProf, waits for locks and
// conditions of POSIX and C11, joins, unlocks that others waited for, sleeps
// and the creation of threads are recorded.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:block_kinds=all:log_path=x} \
// RUN:   LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: Where threads waited
// CHECK: Which unlocks ended waits
// CHECK: pthread_mutex_unlock
// CHECK-NEXT: in holder {{.*}}locks.c:[[#]]
// CHECK: Where threads were created
// CHECK: Total: {{ *}}4 threads, 1 live
// CHECK: in main
// RUN: %go tool pprof -sample_index=contentions -traces x.*.block.pb.gz > traces
// RUN: for f in pthread_mutex_lock mtx_lock pthread_cond_wait pthread_join \
// RUN:   nanosleep; do grep -A1 "^ *1 *$f" traces | grep -q 'holder\|main\|waiter\|taker' \
// RUN:     || { echo missing $f; cat traces; exit 1; }; done
//
// Without options for waits, none is recorded, and the program does the same.
// RUN: %run{heap=0:log_path=y} LD_PRELOAD=%preload ./app
// RUN: ls y.*.txt && not ls y.*.block.pb.gz

#define _GNU_SOURCE
#include "sync-observe.h"

#include <semaphore.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t c11;
static sem_t holds;
static pid_t tids[3];
static int ready;

// Holds both locks until the other threads wait for them.
static void *holder(void *arg) {
  about_to_wait(&tids[0]);
  pthread_mutex_lock(&mutex);
  mtx_lock(&c11);
  sem_post(&holds);
  sem_post(&holds);
  until_waits_for(&tids[1], &mutex, sizeof(mutex));
  until_waits_for(&tids[2], &c11, sizeof(c11));
  struct timespec t = {0, 1000000};
  nanosleep(&t, NULL);
  mtx_unlock(&c11);
  pthread_mutex_unlock(&mutex);
  return arg;
}
static void *waiter(void *arg) {
  sem_wait(&holds);
  about_to_wait(&tids[1]);
  pthread_mutex_lock(&mutex);
  while (!ready)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  until_main_waits(NULL, 0); // it joins this thread
  return arg;
}
static void *taker(void *arg) {
  sem_wait(&holds);
  about_to_wait(&tids[2]);
  mtx_lock(&c11);
  mtx_unlock(&c11);
  return arg;
}

int main(void) {
  pthread_t t[3];
  void *(*const functions[3])(void *) = {holder, waiter, taker};
  mtx_init(&c11, mtx_plain);
  sem_init(&holds, 0, 0);
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], NULL, functions[i], NULL);
  until_waits_for(&tids[1], &cond, sizeof(cond));
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  until_gone(tids[0]); // so that one join is a wait
  until_gone(tids[2]);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
  return 0;
}
