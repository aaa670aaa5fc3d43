// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: pprof and the report show all functions that were inlined around a
// lock or an unlock, from the innermost to the outermost. The frame of
// pthread_mutex_lock or pthread_mutex_unlock comes first. The samples have the
// lock's address or name and the kind of wait.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{block_rate=1:mutex_fraction=1:log_path=out} ./app > address
// RUN: %mprof_read --symbolize out.*.block.pb.gz | FileCheck %s --check-prefix=BLOCK
// RUN: %mprof_read --symbolize out.*.mutex.pb.gz | FileCheck %s --check-prefix=MUTEX
// RUN: %go tool pprof -traces app out.*.block.pb.gz | FileCheck %s --check-prefix=TRACES
// RUN: %go tool pprof -traces app out.*.mutex.pb.gz | FileCheck %s --check-prefix=UNLOCK
// RUN: FileCheck %s --check-prefix=REPORT < out.*.txt
// RUN: %mprof_read out.*.block.pb.gz | grep -F "lock=$(cat address) "
//
// BLOCK: sample: 1 {{[0-9]+}} kind=mutex lock=queue ([[LOCK:0x[0-9a-f]+]]) : pthread_mutex_lock <- lock3 <- lock2 <- lock1 <- waiter
// MUTEX: sample: 1 {{[0-9]+}} kind=mutex lock=queue (0x{{[0-9a-f]+}}) : pthread_mutex_unlock <- unlock3 <- unlock2 <- unlock1 <- main
// BLOCK: sample: 1 {{[0-9]+}} kind=rwlock lock=[[LOCK2:0x[0-9a-f]+]] : pthread_rwlock_rdlock <- reader
// TRACES: pthread_mutex_lock
// TRACES-NEXT: lock3
// TRACES-NEXT: lock2
// TRACES-NEXT: lock1
// TRACES-NEXT: waiter
// UNLOCK: pthread_mutex_unlock
// UNLOCK-NEXT: unlock3
// UNLOCK-NEXT: unlock2
// UNLOCK-NEXT: unlock1
// UNLOCK-NEXT: main
// REPORT: in pthread_mutex_lock
// REPORT-NEXT: in lock3
// REPORT-NEXT: in lock2
// REPORT-NEXT: in lock1
// REPORT-NEXT: in waiter
// REPORT: in pthread_mutex_unlock
// REPORT-NEXT: in unlock3
// REPORT-NEXT: in unlock2
// REPORT-NEXT: in unlock1
// REPORT-NEXT: in main

#include "waited.h"

#define INLINED __attribute__((always_inline)) static inline

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

INLINED void lock3(void) { pthread_mutex_lock(&mutex); }
INLINED void lock2(void) { lock3(); }
INLINED void lock1(void) { lock2(); }
INLINED void unlock3(void) { pthread_mutex_unlock(&mutex); }
INLINED void unlock2(void) { unlock3(); }
INLINED void unlock1(void) { unlock2(); }

static void waiter(void *arg) {
  (void)arg;
  lock1();
  pthread_mutex_unlock(&mutex);
}
static void reader(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}

int main(void) {
  struct thread t;
  NEED(mprof_name_lock(&mutex, "queue") == 0);
  printf("%p\n", (void *)&rwlock);
  pthread_mutex_lock(&mutex);
  start_waiting(&t, waiter, NULL, &mutex, sizeof(mutex));
  usleep(100000); // most waits take place here
  unlock1();
  finish(&t);
  pthread_rwlock_wrlock(&rwlock);
  start_waiting(&t, reader, NULL, &rwlock, sizeof(rwlock));
  pthread_rwlock_unlock(&rwlock);
  finish(&t);
  return 0;
}
