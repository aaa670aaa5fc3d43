// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests of threads that wait for ever: two threads that take two
// mutexes in different orders, and the wait for the report of stuck_report.

#ifndef MPROF_TEST_INPUTS_DEADLOCK_H
#define MPROF_TEST_INPUTS_DEADLOCK_H

#include "waited.h"

// Threads that wait for ever, and their ids once they are about to wait. The
// first two threads run a_then_b and b_then_a. The others are for other waits
// of a test.
static pthread_t threads[4];
static pid_t tids[4];

// Creates threads[i]. The argument of `run` is the address of tids[i].
static inline void create_waiter(int i, void *(*run)(void *)) {
  NEED(pthread_create(&threads[i], NULL, run, &tids[i]) == 0);
}

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;

// Called before the two threads are created.
static inline void init_deadlock(void) {
  NEED(pthread_barrier_init(&both_hold, NULL, 2) == 0);
}
__attribute__((noinline)) static void *a_then_b(void *tid) {
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both_hold);
  about_to_wait((pid_t *)tid);
  pthread_mutex_lock(&b);
  return tid;
}
__attribute__((noinline)) static void *b_then_a(void *tid) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both_hold);
  about_to_wait((pid_t *)tid);
  pthread_mutex_lock(&a);
  return tid;
}

// Waits until this process has written the report of stuck_report. The test
// sets log_path=x.%p.
static inline void until_reported(void) {
  char path[64];
  snprintf(path, sizeof(path), "x.%d.stuck.txt", (int)getpid());
  for (int i = 0; i < 12000 && access(path, F_OK) != 0; i++)
    pause_us(10000);
  NEED(access(path, F_OK) == 0);
}

#endif // MPROF_TEST_INPUTS_DEADLOCK_H
