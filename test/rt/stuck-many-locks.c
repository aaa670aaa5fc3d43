// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a deadlock of rwlocks held by readers is found, although the threads
// have used hundreds of other locks and hold hundreds of mutexes. An rwlock
// does not contain the ids of its readers, so MProf records up to 32 rwlocks
// that a thread holds for reading. Mutexes and released locks do not count
// against this limit. If a thread holds more rwlocks for reading, MProf
// examines none of them, and the report says why. Taking and releasing another
// lock repeatedly does not change this. After the release of the rwlocks, the
// deadlock is found again.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: FileCheck %s --check-prefix=LOST < lost.txt
// RUN: FileCheck %s --check-prefix=KEPT < kept.txt
// RUN: FileCheck %s --check-prefix=KEPT < full.txt
//
// LOST: Total:     0 threads
// LOST: Waits for readers of rwlocks, for spin locks and for the program's own locks were not checked: 9 locks that are held could not be recorded because a thread held more than 32 such locks
//
// KEPT: Cycle 1 of 1: 2 threads wait for one another
// KEPT: holds rwlock {{.*}}, taken
// KEPT: holds rwlock {{.*}}, taken
// KEPT-NOT: not checked
// KEPT: SUMMARY: MProf: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles

#include "waited.h"

enum { LOCKS = 200, HELD = 40, RECORDS = 32 };

static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t spare[LOCKS];
static pthread_mutex_t mutexes[LOCKS];
static pthread_barrier_t both;
static pid_t tids[2];

static void take_others(void) {
  for (int i = 0; i < LOCKS; i++) {
    NEED(pthread_rwlock_rdlock(&spare[i]) == 0);
    NEED(pthread_rwlock_unlock(&spare[i]) == 0);
    NEED(pthread_rwlock_wrlock(&spare[i]) == 0);
    NEED(pthread_rwlock_unlock(&spare[i]) == 0);
  }
}
static void *a_then_b(void *arg) {
  take_others();
  pthread_rwlock_rdlock(&a);
  for (int i = 0; i < LOCKS; i++)
    pthread_mutex_lock(&mutexes[i]);
  pthread_barrier_wait(&both);
  about_to_wait(&tids[0]);
  pthread_rwlock_wrlock(&b);
  return arg;
}
static void *b_then_a(void *arg) {
  pthread_rwlock_rdlock(&b);
  take_others();
  pthread_barrier_wait(&both);
  about_to_wait(&tids[1]);
  pthread_rwlock_wrlock(&a);
  return arg;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < LOCKS; i++) {
    NEED(pthread_rwlock_init(&spare[i], NULL) == 0);
    NEED(pthread_mutex_init(&mutexes[i], NULL) == 0);
  }
  NEED(pthread_barrier_init(&both, NULL, 2) == 0);
  NEED(pthread_create(&thread, NULL, a_then_b, NULL) == 0);
  NEED(pthread_create(&thread, NULL, b_then_a, NULL) == 0);
  until_waits_in(&tids[0], SYS_futex);
  until_waits_in(&tids[1], SYS_futex);
  for (int i = 0; i < HELD; i++)
    NEED(pthread_rwlock_rdlock(&spare[i]) == 0);
  for (int i = 0; i < 20; i++)
    NEED(pthread_rwlock_rdlock(&spare[HELD]) == 0);
  for (int i = 0; i < 20; i++)
    NEED(pthread_rwlock_unlock(&spare[HELD]) == 0);
  NEED(mprof_write_profile("threadleak", "lost.txt", 2) == 0);
  for (int i = 0; i < HELD; i++)
    NEED(pthread_rwlock_unlock(&spare[i]) == 0);
  NEED(mprof_write_profile("threadleak", "kept.txt", 2) == 0);
  for (int i = 0; i < RECORDS; i++)
    NEED(pthread_rwlock_rdlock(&spare[i]) == 0);
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  NEED(pthread_mutex_lock(&other) == 0);
  NEED(mprof_write_profile("threadleak", "full.txt", 2) == 0);
  return 0;
}
