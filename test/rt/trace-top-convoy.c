// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if many threads wait for a lock one after another, mprof trace top
// blames the function that held the lock for long. It does not blame the
// functions that held the lock briefly after their own wait. The times and
// numbers of unlocks equal those of the mutex profile.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{mutex_fraction=1:trace=1:log_path=x} ./app
// RUN: %trace_check -q x.*trace
// RUN: %trace_top --reason=sync x.*trace > top && FileCheck %s < top
// RUN: %mprof_read --symbolize mutex.pb.gz > mutex
// RUN: %python %S/Inputs/compare_holders.py top mutex
//
// CHECK: Where locks were released that other threads waited for
// CHECK-NEXT: total unlocks longest
// CHECK-NEXT: hold_long trace-top-convoy.c:[[#]]
// CHECK-NEXT: hold_briefly trace-top-convoy.c:[[#]]
// All waits were for the lock.
// CHECK-NOT: hold_

#include "waited.h"

enum { BRIEF = 5, TURNS = 25 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_run;
static int is_over;

__attribute__((noinline)) static void hold_long(void) {
  pthread_mutex_lock(&lock);
  usleep(8000);
  pthread_mutex_unlock(&lock);
  __asm__ volatile("");
}

__attribute__((noinline)) static void hold_briefly(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  __asm__ volatile("");
}

static void *be_brief(void *arg) {
  pthread_barrier_wait(&all_run);
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    hold_briefly();
    usleep(100);
  }
  return arg;
}

int main(void) {
  pthread_t t[BRIEF];
  NEED(pthread_barrier_init(&all_run, NULL, BRIEF + 1) == 0);
  for (int i = 0; i < BRIEF; i++)
    NEED(pthread_create(&t[i], NULL, be_brief, NULL) == 0);
  pthread_barrier_wait(&all_run);
  for (int i = 0; i < TURNS; i++) {
    hold_long();
    if (i % 2 == 0)
      usleep(400);
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < BRIEF; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  NEED(mprof_write_profile("mutex", "mutex.pb.gz", 0) == 0);
  return 0;
}
