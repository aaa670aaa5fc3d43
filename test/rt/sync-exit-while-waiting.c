// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program ends while its threads wait and contend, its exit status
// is the same with and without MProf. This holds if main returns, if another
// thread calls exit, and if main calls pthread_exit. All profiles are written.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: for how in return exit pthread_exit; do \
// RUN:   status=0; timeout 600 ./plain $how > plain.$how || status=$?; \
// RUN:   echo $how $status >> plain.txt; cat plain.$how >> plain.txt; \
// RUN:   status=0; \
// RUN:   %run{symbolize=0:block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:     timeout 600 ./app $how > on.$how || status=$?; \
// RUN:   echo $how $status >> on.txt; cat on.$how >> on.txt; \
// RUN: done
// RUN: FileCheck %s < plain.txt
// RUN: diff plain.txt on.txt
//
// CHECK: return 3
// CHECK-NEXT: at exit
// CHECK: {{^}}exit 4
// CHECK-NEXT: at exit
// CHECK: pthread_exit 0
// CHECK-NEXT: at exit

#define _GNU_SOURCE
#include "sync-observe.h"

#include <semaphore.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int p[2], stop;

static void in_mutex(void *unused) {
  (void)unused;
  pthread_mutex_lock(&held);
  say("got it");
}
static void in_cond(void *unused) {
  (void)unused;
  static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&own);
  pthread_cond_wait(&cond, &own);
  say("woken");
}
static void in_sem(void *unused) {
  (void)unused;
  sem_wait(&semaphore);
  if (!stop)
    say("got it");
}
static void in_read(void *unused) {
  (void)unused;
  char c;
  say("read %ld", (long)read(p[0], &c, 1));
}
static void contend(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&busy);
    pthread_mutex_unlock(&busy);
  }
}
static void exit_elsewhere(void *unused) {
  (void)unused;
  exit(4);
}
static void at_exit(void) {
  struct timespec past = {1, 0};
  pthread_mutex_lock(&busy);
  sem_timedwait(&semaphore, &past);
  pthread_mutex_unlock(&busy);
  say("at exit");
}

int main(int argc, char **argv) {
  NEED(argc == 2 && sem_init(&semaphore, 0, 0) == 0 && pipe(p) == 0);
  atexit(at_exit);
  struct thread t[6];
  start(&t[0], contend, NULL);
  start(&t[1], contend, NULL);
  start_waiting(&t[2], in_sem, NULL, &semaphore, sizeof(semaphore));
  if (strcmp(argv[1], "pthread_exit") == 0) {
    // The last thread ends the program.
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    sem_post(&semaphore);
    pthread_exit(NULL);
  }
  NEED(pthread_mutex_lock(&held) == 0);
  start_waiting(&t[3], in_mutex, NULL, &held, sizeof(held));
  start_waiting(&t[4], in_cond, NULL, &cond, sizeof(cond));
  start(&t[5], in_read, NULL);
  until_blocked(t[5].tid, SYS_read, NULL, 0);
  if (strcmp(argv[1], "exit") == 0) {
    struct thread last;
    start(&last, exit_elsewhere, NULL);
    finish(&last);
  }
  return 3;
}
