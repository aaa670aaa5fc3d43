// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof latency, mprof explain and the page of a trace say what a tenth
// of the tasks, the slowest ones, have in common, because a single slow task
// may be a chance. If all these tasks are shown one by one, nothing is said.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{trace=1:log_path=x} ./app
// RUN: mv x.*trace x.trace
// RUN: %mprof latency -n 1 x.trace | FileCheck %s
// CHECK: The 10 slowest of 100 tasks took {{.*}} together
// CHECK: in {{10|[5-9]}}: sync for orders at serve latency-slowest-together.c:[[#LINE:]], held most by {{.*}} until clean {{.*}}.c:
// CHECK: The slowest tasks
// CHECK-NEXT: 1. {{.*}} request, task
// RUN: %mprof latency -n 10 x.trace | not grep 'slowest of'
// RUN: %mprof explain x.trace | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: The 10 slowest of 100 tasks took {{.*}} together:
// EXPLAIN: {{^ .*}} sync for orders at serve
// RUN: %mprof html x.trace -o x.html && \
// RUN:   grep -q '"together":{"count":10,"ns":[0-9]*,"parts":\[.*"lock":"orders"' x.html

#include "waited.h"

#include <mprof/mprof.h>
#include <semaphore.h>

enum { TASKS = 100, EACH = 10 };
static _Alignas(64) pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) sem_t begin, held;

static __attribute__((noinline)) void clean(void) {
  pthread_mutex_lock(&orders);
  sem_post(&held);
  until_waited_for(&orders);
  usleep(20000);
  pthread_mutex_unlock(&orders);
}

static void *keeper(void *arg) {
  for (int i = 0; i < TASKS / EACH; i++) {
    sem_wait(&begin);
    clean();
  }
  return arg;
}

static __attribute__((noinline)) void serve(void) {
  pthread_mutex_lock(&orders);
  pthread_mutex_unlock(&orders);
}

int main(void) {
  pthread_t t;
  sem_init(&begin, 0, 0);
  sem_init(&held, 0, 0);
  NEED(pthread_create(&t, NULL, keeper, NULL) == 0);
  for (int i = 0; i < TASKS; i++) {
    const uint64_t task = mprof_trace_task_begin(0, "request");
    if (i % EACH == 0) {
      sem_post(&begin);
      sem_wait(&held);
    }
    serve();
    mprof_trace_task_end(task);
  }
  return pthread_join(t, NULL);
}
