// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof latency names the lock for which a slow task waited, if the
// program has given it a name. The trace has no message of a lock that has no
// name. Readers of Go and of MProf accept the messages.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{trace=1:log_path=x} ./app
// RUN: mv x.*trace x.trace
// RUN: %trace_check -q x.trace
// RUN: %trace_print x.trace > events
// RUN: grep -c lock.name events | grep -x 1
// RUN: grep -A 1 'main: UserLog "lock.name" "orders"$' events | \
// RUN:   grep 'main: GoBlockSync at pthread_mutex_lock'
// RUN: %if go-1.23 %{ %go tool trace -d=parsed x.trace > parsed %}
// RUN: %mprof latency x.trace | FileCheck %s
// RUN: %trace_top --reason=sync x.trace | FileCheck %s --check-prefix=TOP
//
// CHECK:     1. {{.*}}: job, task 1 from
// CHECK-DAG: sync for orders: main G1 at main latency-lock-names.c:[[#LINE:]]
// CHECK-DAG: sync: main G1 at main latency-lock-names.c:[[#LINE+1]]
//
// TOP:      {{[0-9]\. .*}}: sync for orders{{$}}
// TOP-NEXT: main G1 at main latency-lock-names.c

#include "waited.h"

#include <semaphore.h>

static _Alignas(64) pthread_mutex_t named = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) sem_t ready;

static void *holder(void *arg) {
  pthread_mutex_lock(&named);
  pthread_mutex_lock(&other);
  sem_post(&ready);
  until_waited_for(&named);
  usleep(20000);
  pthread_mutex_unlock(&named);
  until_waited_for(&other);
  usleep(10000);
  pthread_mutex_unlock(&other);
  return arg;
}

int main(void) {
  pthread_t t;
  NEED(mprof_name_lock(&named, "orders") == 0);
  NEED(sem_init(&ready, 0, 0) == 0);
  NEED(pthread_create(&t, NULL, holder, NULL) == 0);
  while (sem_wait(&ready) != 0)
    ;
  const uint64_t task = mprof_trace_task_begin(0, "job");
  pthread_mutex_lock(&named);
  pthread_mutex_lock(&other);
  mprof_trace_task_end(task);
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&named);
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
