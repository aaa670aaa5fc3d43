// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace has log messages with the labels of threads. They tell the
// labels when the trace starts, the labels that a new thread inherits, and each
// change. If only the last part of a trace is kept (trace_last), labels that
// were set earlier are in the trace, too. Readers of traces accept the
// messages. Format 1.5 has no messages, so it has no labels.
//
// REQUIRES: go-1.23
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{trace_format=1.5} ./app 1.5.trace 2> 1.5.err
// RUN: %go119 tool trace -d app 1.5.trace > /dev/null
// RUN: not grep 'cannot represent' 1.5.err
// RUN: %run_quiet ./app x.trace
// RUN: %trace_check -q x.trace
// RUN: %go tool trace -d=parsed x.trace > x.txt
// RUN: FileCheck %s < x.txt
// RUN: test $(grep -c 'Category="labels"' x.txt) = 8
// RUN: %trace_json -o x.json x.trace && FileCheck %s --check-prefix=JSON < x.json
//
// On a busy machine, no thread may run in the last 200 ms. Then the program
// runs again.
// RUN: for last in trace_last=200ms trace_last_mb=1; do \
// RUN:   for try in 1 2 3 4 5 6 7 8; do \
// RUN:     rm -f $last.*.trace; %run_quiet{$last:log_path=$last} ./app && \
// RUN:     %trace_check -q $last.*.trace && \
// RUN:     %go tool trace -d=parsed $last.*.trace > last.txt && \
// RUN:     ! grep before last.txt || exit 1; \
// RUN:     FileCheck %s --check-prefix=LAST < last.txt && break; \
// RUN:   done || exit 1; done
//
// CHECK-DAG: Log {{.*}}Category="labels" Message="{\"main\":\"before\"}"
// CHECK-DAG: Log {{.*}}Category="labels" Message="{\"main\":\"before\", \"waiter\":\"1\"}"
// CHECK-DAG: Log {{.*}}Category="labels" Message="{\"main\":\"set\"}"
// CHECK-DAG: Log {{.*}}Category="labels" Message="{\"child\":\"\\x01\", \"main\":\"set\"}"
// CHECK-DAG: Log {{.*}}Category="labels" Message="{}"
// JSON: "cat":"log","name":"labels","args":{"value":"{\"main\":\"before\"}"}
// LAST-DAG: Log {{.*}}Category="labels" Message="{\"loop\":\"always\"}"
// LAST-DAG: Log {{.*}}Category="labels" Message="{\"compute\":\"always\"}"

#include "waited.h"

#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waits, may_end;
static sem_t is_long_ago;

static void *wait_before(void *arg) {
  NEED(mprof_label_set("waiter", "1") == 0);
  pthread_mutex_lock(&mutex);
  waits = 1;
  while (!may_end)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  return arg;
}

static void *change_own(void *arg) {
  NEED(mprof_label_set("child", "\x01") == 0);
  return arg;
}

static void *loop(void *arg) {
  NEED(mprof_label_set("before", "the window") == 0);
  mprof_labels_swap(NULL);
  NEED(mprof_label_set("loop", "always") == 0);
  for (int i = 0;; i++) {
    for (int k = 0; k < 200; k++)
      mprof_trace_log(0, "key", "something to fill the buffers with");
    usleep(1000);
    if (i == 400)
      sem_post(&is_long_ago);
  }
  return arg;
}

// Runs without an event of its own in the last part of the trace.
static void *compute(void *arg) {
  for (volatile unsigned long n = 0;; n++)
    ;
  return arg;
}

int main(int argc, char **argv) {
  pthread_t t, u;
  if (argc == 1) {
    NEED(mprof_label_set("compute", "always") == 0);
    NEED(pthread_create(&u, NULL, compute, NULL) == 0);
    mprof_labels_swap(NULL);
    NEED(sem_init(&is_long_ago, 0, 0) == 0);
    NEED(pthread_create(&t, NULL, loop, NULL) == 0);
    NEED(sem_wait(&is_long_ago) == 0);
    return 0;
  }
  NEED(mprof_label_set("main", "before") == 0);
  NEED(pthread_create(&t, NULL, wait_before, NULL) == 0);
  for (int there = 0; !there; usleep(1000)) {
    pthread_mutex_lock(&mutex);
    there = waits;
    pthread_mutex_unlock(&mutex);
  }
  NEED(mprof_trace_start(argv[1]) == 0);
  NEED(mprof_label_set("main", "set") == 0);
  NEED(mprof_label_set("main", "set") == 0); // no change
  NEED(pthread_create(&u, NULL, change_own, NULL) == 0);
  NEED(pthread_join(u, NULL) == 0);
  {
    MPROF_LABELS("scope", "1");
  }
  mprof_labels_swap(NULL);
  pthread_mutex_lock(&mutex);
  may_end = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  NEED(pthread_join(t, NULL) == 0);
  NEED(mprof_trace_stop() == 0);
  return 0;
}
