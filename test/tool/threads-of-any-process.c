// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof threads and mprof stuck show the threads of a process without
// MProf, and which of them can never continue: those that wait for each other's
// mutexes and read-write locks, one that joins such a thread, and one whose
// mutex a thread has taken into its end. Threads that wait for an event or for
// a holder that continues are not stuck. The process goes on.
//
// UNSUPPORTED: emulated
// RUN: %gcc -O1 -g %s -o %t -pthread
// RUN: %python -B %S/Inputs/while_it_runs.py %t %mprof threads > %t.threads
// RUN: FileCheck %s --check-prefix=THREADS < %t.threads
// RUN: %python -B %S/Inputs/while_it_runs.py %t %mprof stuck > %t.stuck
// RUN: FileCheck %s --check-prefix=STUCK < %t.stuck
// RUN: grep -c 'grade: certain' %t.stuck | grep -x 5
// RUN: grep -c 'grade: likely' %t.stuck | grep -x 1
// RUN: not grep -E 'works|waits_for_work|patient' %t.stuck
//
// THREADS-DAG: kind: cond{{[[:space:]]+}}waits_for_work
// THREADS-DAG: kind: join{{[[:space:]]+}}joins
// THREADS-DAG: state: running{{[[:space:]]+}}works
// THREADS-DAG: kind: rwlock{{[[:space:]]+}}three
// THREADS: 10 in total
// STUCK-DAG: one {{.*}} via {{_*}}pthread_mutex_lock
// STUCK-DAG: two {{.*}} via {{_*}}pthread_mutex_lock
// STUCK-DAG: three {{.*}} via {{_*}}pthread_rwlock_wrlock
// STUCK-DAG: four {{.*}} via {{_*}}pthread_rwlock_wrlock
// STUCK-DAG: joins {{.*}} via {{.*}}join
// STUCK-DAG: heir {{.*}} via {{_*}}pthread_mutex_lock
// STUCK: 6 in total

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER,
                       b = PTHREAD_MUTEX_INITIALIZER,
                       left = PTHREAD_MUTEX_INITIALIZER,
                       busy = PTHREAD_MUTEX_INITIALIZER,
                       empty = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t x = PTHREAD_RWLOCK_INITIALIZER,
                        y = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t held; // all first locks are taken
static pthread_t first;

#define THREAD(f) __attribute__((noinline)) static void *f(void *arg)

THREAD(one) {
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&held);
  pthread_mutex_lock(&b);
  return arg;
}
THREAD(two) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&held);
  pthread_mutex_lock(&a);
  return arg;
}
THREAD(three) {
  pthread_rwlock_wrlock(&x);
  pthread_barrier_wait(&held);
  pthread_rwlock_wrlock(&y);
  return arg;
}
THREAD(four) {
  pthread_rwlock_wrlock(&y);
  pthread_barrier_wait(&held);
  pthread_rwlock_wrlock(&x);
  return arg;
}
THREAD(joins) {
  pthread_join(first, NULL);
  return arg;
}
THREAD(ends) {
  pthread_mutex_lock(&left);
  return arg;
}
THREAD(heir) {
  pthread_mutex_lock(&left);
  return arg;
}
THREAD(works) {
  pthread_mutex_lock(&busy);
  pthread_barrier_wait(&held);
  for (volatile unsigned long n = 0;; n++)
    ;
  return arg;
}
THREAD(patient) {
  pthread_mutex_lock(&busy);
  return arg;
}
THREAD(waits_for_work) {
  pthread_mutex_lock(&empty);
  for (;;)
    pthread_cond_wait(&filled, &empty);
  return arg;
}

int main(void) {
  static void *(*const functions[])(void *) = {one,  two,   three,
                                               four, works, waits_for_work};
  pthread_t t;
  pthread_barrier_init(&held, NULL, 6);
  pthread_create(&t, NULL, ends, NULL);
  pthread_join(t, NULL);
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
    pthread_create(i == 0 ? &first : &t, NULL, functions[i], NULL);
  pthread_barrier_wait(&held);
  pthread_create(&t, NULL, joins, NULL);
  pthread_create(&t, NULL, heir, NULL);
  pthread_create(&t, NULL, patient, NULL);
  usleep(300000);
  puts("ready");
  fflush(stdout);
  getchar();
  puts("alive");
  fflush(stdout);
  _exit(0);
}
