// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program that was built without MProf, waits for locks and
// conditions of POSIX and C11, joins, unlocks that others waited for, sleeps
// and the creation of threads are recorded.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 %s -o app
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

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t c11;
static sem_t holds, waits;
static int ready;

static void pause_ms(long ms) {
  struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

// Holds both locks until the other threads are about to wait.
static void *holder(void *arg) {
  pthread_mutex_lock(&mutex);
  mtx_lock(&c11);
  sem_post(&holds);
  sem_post(&holds);
  struct timespec t = {0, 50000000};
  nanosleep(&t, NULL);
  mtx_unlock(&c11);
  pthread_mutex_unlock(&mutex);
  return arg;
}
static void *waiter(void *arg) {
  sem_wait(&holds);
  pthread_mutex_lock(&mutex);
  sem_post(&waits);
  while (!ready)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  pause_ms(50); // main waits for the end of this thread
  return arg;
}
static void *taker(void *arg) {
  sem_wait(&holds);
  mtx_lock(&c11);
  mtx_unlock(&c11);
  return arg;
}

int main(void) {
  pthread_t t[3];
  void *(*const functions[3])(void *) = {holder, waiter, taker};
  mtx_init(&c11, mtx_plain);
  sem_init(&holds, 0, 0);
  sem_init(&waits, 0, 0);
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], NULL, functions[i], NULL);
  sem_wait(&waits);
  pause_ms(10);
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
  return 0;
}
