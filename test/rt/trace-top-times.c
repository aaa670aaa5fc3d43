// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in mprof trace top, the times of each thread in its states add up to
// its life: of threads that begin before the trace or in it, that end in it or
// after it, and that wait at the end.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet ./app
// RUN: %trace_check -q x.trace
// RUN: %trace_top --format=json x.trace | %python %S/Inputs/check_times.py 4 \
// RUN:   | FileCheck %s
//
// The trace may begin before the thread has called read.
// CHECK-DAG: reader tid {{running|system_call}}
// CHECK-DAG: sleeper tid running {{.*}}sleep
// CHECK-DAG: waiter tid running {{.*}}cond sync
// CHECK-DAG: main tid running {{.*}}sleep

#include "waited.h"

// In different words of the table of waiters.
static _Alignas(64) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ends[2], is_over, reads;

static void *reader(void *arg) {
  char c;
  __atomic_store_n(&reads, 1, __ATOMIC_RELEASE);
  NEED(read(ends[0], &c, 1) == 1);
  return arg;
}

static void *sleeper(void *arg) {
  usleep(2000);
  return arg;
}

static void *waiter(void *arg) {
  pthread_mutex_lock(&lock);
  while (!is_over)
    pthread_cond_wait(&cond, &lock);
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t r, s, w;
  NEED(pipe(ends) == 0);
  NEED(pthread_create(&r, NULL, reader, NULL) == 0);
  while (!__atomic_load_n(&reads, __ATOMIC_ACQUIRE))
    pause_us(100);
  NEED(mprof_trace_start("x.trace") == 0);
  pthread_mutex_lock(&lock);
  NEED(pthread_create(&w, NULL, waiter, NULL) == 0);
  NEED(pthread_create(&s, NULL, sleeper, NULL) == 0);
  until_waited_for(&lock);
  pthread_mutex_unlock(&lock);
  NEED(pthread_join(s, NULL) == 0);
  usleep(1000);
  until_waited_for(&cond);
  NEED(mprof_trace_stop() == 0);
  is_over = 1;
  pthread_cond_signal(&cond);
  NEED(write(ends[1], "", 1) == 1);
  return 0;
}
