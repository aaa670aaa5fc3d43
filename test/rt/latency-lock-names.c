// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof latency, mprof trace top and mprof trace json name the lock for
// which a thread waited, if the program has given it a name, or if it is a
// global variable or a part of one. Of another lock, the trace has only the
// address. Readers of Go and of MProf accept the messages.
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
// RUN: grep 'UserLog "lock.address" "table+0x8 (0x[0-9a-f]*)"$' events
// RUN: grep 'UserLog "lock.address" "0x[0-9a-f]*"$' events
// RUN: %if go-1.23 %{ %go tool trace -d=parsed x.trace > parsed %}
// RUN: %mprof latency x.trace | FileCheck %s
// RUN: %trace_top --reason=sync x.trace | FileCheck %s --check-prefix=TOP
// RUN: %trace_top --reason=sync x.trace | FileCheck %s --check-prefix=TABLE
// RUN: %mprof trace json -o x.json x.trace
// RUN: grep '"lock":"orders"' x.json && grep '"lock":"table+0x8"' x.json
// RUN: %mprof html x.trace -o x.html && grep -q '"sync","table+0x8' x.html
//
// CHECK:     1. {{.*}}: job, task 1 from
// CHECK-DAG: sync for orders: main G1 at main latency-lock-names.c:[[#LINE:]]
// CHECK-DAG: sync: main G1 at main latency-lock-names.c:[[#LINE+1]]
// CHECK-DAG: sync for table+0x8: main G1 at main latency-lock-names.c:[[#LINE+2]]
//
// TOP:      {{[0-9]\. .*}}: sync for orders{{$}}
// TOP-NEXT: main G1 at main latency-lock-names.c
// TABLE: {{[0-9]\. .*}}: sync for table+0x8{{$}}

#include "waited.h"

#include <semaphore.h>
#include <stdlib.h>

static _Alignas(64) pthread_mutex_t named = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *other;
static struct {
  void *first;
  _Alignas(8) pthread_mutex_t lock;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Alignas(64) sem_t ready;

static void *holder(void *arg) {
  pthread_mutex_lock(&named);
  pthread_mutex_lock(other);
  pthread_mutex_lock(&table.lock);
  sem_post(&ready);
  until_waited_for(&named);
  usleep(20000);
  pthread_mutex_unlock(&named);
  until_waited_for(other);
  usleep(10000);
  pthread_mutex_unlock(other);
  until_waited_for(&table.lock);
  usleep(15000);
  pthread_mutex_unlock(&table.lock);
  return arg;
}

int main(void) {
  pthread_t t;
  other = aligned_alloc(64, 64);
  NEED(other && pthread_mutex_init(other, NULL) == 0);
  NEED(mprof_name_lock(&named, "orders") == 0);
  NEED(sem_init(&ready, 0, 0) == 0);
  NEED(pthread_create(&t, NULL, holder, NULL) == 0);
  while (sem_wait(&ready) != 0)
    ;
  const uint64_t task = mprof_trace_task_begin(0, "job");
  pthread_mutex_lock(&named);
  pthread_mutex_lock(other);
  pthread_mutex_lock(&table.lock);
  mprof_trace_task_end(task);
  pthread_mutex_unlock(&table.lock);
  pthread_mutex_unlock(other);
  pthread_mutex_unlock(&named);
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
