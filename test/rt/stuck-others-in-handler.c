// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler interrupts a deadlocked thread's wait for a mutex
// and then sleeps in pause. The thread counts as able to run, so its deadlock
// is not reported. A deadlock of two other threads is found all the same.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: FileCheck %s < leak.txt
//
// CHECK: Cycle 1 of 1: 2 threads wait for one another
// CHECK: SUMMARY: MProf: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles

#include "waited.h"

#include <signal.h>

enum { THREADS = 4 }; // two pairs
static pthread_mutex_t locks[THREADS];
static pthread_barrier_t all;
static pid_t tids[THREADS];
static pthread_t threads[THREADS];
static int is_in_handler;

static void *take_both(void *arg) {
  const long i = (long)arg;
  pthread_mutex_lock(&locks[i]);
  pthread_barrier_wait(&all);
  about_to_wait(&tids[i]);
  pthread_mutex_lock(&locks[i ^ 1]);
  return arg;
}

static void handle(int sig) {
  (void)sig;
  __atomic_store_n(&is_in_handler, 1, __ATOMIC_RELEASE);
  pause();
}

int main(void) {
  static struct mprof_stack_record records[8];
  size_t n;
  NEED(pthread_barrier_init(&all, NULL, THREADS) == 0);
  signal(SIGUSR1, handle);
  for (long i = 0; i < THREADS; i++)
    pthread_mutex_init(&locks[i], NULL);
  for (long i = 0; i < THREADS; i++)
    NEED(pthread_create(&threads[i], NULL, take_both, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++)
    until_waits_in(&tids[i], SYS_futex);
  NEED(mprof_thread_leak_profile(records, 8, &n) == 0 && n == 4);
  NEED(pthread_kill(threads[0], SIGUSR1) == 0);
  while (!__atomic_load_n(&is_in_handler, __ATOMIC_ACQUIRE))
    usleep(1000);
  until_waits_in(&tids[0], SYS_pause);
  NEED(mprof_write_profile("threadleak", "leak.txt", 2) == 0);
  return 0;
}
