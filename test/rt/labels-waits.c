// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in all files a wait has the labels of the thread that waited. A
// contended unlock has the labels of the thread that unlocked. The functions
// mprof_block_profile and mprof_mutex_profile still return one record per
// stack, whatever the labels are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:log_path=x} ./app
// RUN: %mprof_read --symbolize x.*.block.pb.gz | FileCheck %s
// RUN: %mprof_read --symbolize x.*.mutex.pb.gz | FileCheck %s --check-prefix=MUTEX
// RUN: FileCheck %s --check-prefix=REPORT < x.*[0-9].txt
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:log_path=y:format=1:report=0} ./app
// RUN: FileCheck %s --check-prefix=TEXT < y.*.block.txt
// RUN: FileCheck %s --check-prefix=TEXT < y.*.mutex.txt
//
// CHECK-DAG: sample: 1 {{[0-9]+}} kind=mutex lock={{.*}} waiter=a : pthread_mutex_lock <- wait_for_it
// CHECK-DAG: sample: 2 {{[0-9]+}} kind=mutex lock={{.*}} waiter=b : pthread_mutex_lock <- wait_for_it
// MUTEX-DAG: sample: 2 {{[0-9]+}} kind=mutex lock={{.*}} releaser=x : pthread_mutex_unlock <- release
// MUTEX-DAG: sample: 1 {{[0-9]+}} kind=mutex lock={{[^ ]*}} : pthread_mutex_unlock <- release
// REPORT: Where threads waited
// REPORT: {{^}}    mutex 0x
// REPORT-NEXT: {{^}}    labels {"waiter":"b"} and others{{$}}
// REPORT: Which unlocks ended waits of other threads
// REPORT: {{^}}    mutex 0x
// REPORT-NEXT: {{^}}    labels {"releaser":"x"} and others{{$}}
// TEXT: {{^}}[[#]] 2 @ 0x
// TEXT-NEXT: {{^}}# labels: {"{{waiter":"b|releaser":"x}}"}{{$}}

#include "waited.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

OWN_CODE(wait_for_it) static void wait_for_it(void *arg) {
  NEED(mprof_label_set("waiter", arg) == 0);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
DECLARE_CODE(wait_for_it);

OWN_CODE(release) static void release(void) { pthread_mutex_unlock(&mutex); }
DECLARE_CODE(release);

// Has one thread wait for another, for at least so many seconds. holder is the
// value of its label, or NULL.
static void contend(const char *waiter, const char *holder, double seconds) {
  struct thread t;
  pthread_mutex_lock(&mutex);
  start_waiting(&t, wait_for_it, (void *)(uintptr_t)waiter, &mutex,
                sizeof(mutex));
  pause_us((long)(seconds * 1e6));
  NEED(mprof_label_set("releaser", holder) == 0);
  release();
  finish(&t);
  NEED(mprof_label_set("releaser", NULL) == 0);
}

int main(void) {
  const struct code waiters = CODE(wait_for_it), holders = CODE(release);
  const char *const of_waiters[] = {"a", "b", "b"};
  const char *const of_holders[] = {"x", NULL, "x"};
  const double begin = now();
  // The last wait is longer than the others together, so "b" and "x" are first.
#pragma clang loop unroll(disable)
  for (int i = 0; i < 3; i++)
    contend(of_waiters[i], of_holders[i], i == 2 ? now() - begin + 0.02 : 0);
  struct waited w = waited_in(mprof_block_profile, &waiters, SECOND);
  NEED(w.records == 1 && w.count == 3);
  w = waited_in(mprof_mutex_profile, &holders, SECOND);
  NEED(w.records == 1 && w.count == 3);
  return 0;
}
