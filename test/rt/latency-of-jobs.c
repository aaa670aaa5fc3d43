// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof latency shows what the time of a task went to that the main
// thread hands over to a worker: the lock, with the thread and the line that
// released it, and the sleep of the worker. The parts add up to the time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{trace=1:log_path=x} ./app
// RUN: %trace_check -q x.*trace
// RUN: %mprof latency x.*trace | FileCheck %s
// RUN: %mprof latency --format=json x.*trace > json
// RUN: %python %src/test/format/Inputs/check_parts.py json
// RUN: %python %src/test/tool/Inputs/check_json.py %src/docs/mprof.schema.json \
// RUN:   latency < json
//
// CHECK:     x.{{.*}}trace: 1 task in
// CHECK:     1. {{.*}}: job, task 1 from
// CHECK-DAG: sync for lock: worker G{{.}} at worker latency-of-jobs.c:[[#LOCK:]]
// CHECK-DAG: ended by main G1 at release latency-of-jobs.c:
// CHECK-DAG: sleep: worker G{{.}} at worker latency-of-jobs.c:[[#LOCK+1]]

#include "waited.h"

#include <semaphore.h>

static _Alignas(64) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) sem_t jobs;
static uint64_t task;

static void *worker(void *arg) {
  while (sem_wait(&jobs) != 0)
    ;
  pthread_mutex_lock(&lock);
  usleep(20000);
  pthread_mutex_unlock(&lock);
  mprof_trace_task_end(task);
  return arg;
}

__attribute__((noinline)) static void release(void) {
  pthread_mutex_unlock(&lock);
  __asm__ volatile("");
}

int main(void) {
  pthread_t t;
  NEED(sem_init(&jobs, 0, 0) == 0);
  NEED(pthread_create(&t, NULL, worker, NULL) == 0);
  until_waited_for(&jobs);
  pthread_mutex_lock(&lock);
  task = mprof_trace_task_begin(0, "job");
  sem_post(&jobs);
  until_waited_for(&lock);
  usleep(20000);
  release();
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
