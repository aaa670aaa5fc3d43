// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: two threads wait for one semaphore or one condition, and two posts or
// signals follow each other at once. In the trace, the first call wakes one
// thread and the second call wakes the other thread. Each thread is woken at
// the time of its call.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o wakers
// RUN: for what in sem cond; do \
// RUN:   %run_quiet ./wakers $what $what.trace && %trace_check -q $what.trace && \
// RUN:   %trace_assert wakes-in-rounds --round-begins-with GoSleep --rounds 50 \
// RUN:     --waits-in sem_wait,pthread_cond_wait --by wake_x,wake_y \
// RUN:     --rounds-with-all 25 --right-percent 95 $what.trace || exit 1; \
// RUN: done

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <semaphore.h>
#include <stdbool.h>

enum { ROUNDS = 50 };
static bool is_sem;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turns; // guarded by mutex
static pthread_barrier_t begin, end;

static void *wait_for_turns(void *arg) {
  about_to_wait(arg);
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&begin);
    if (is_sem) {
      sem_wait(&semaphore);
    } else {
      pthread_mutex_lock(&mutex);
      while (turns == 0)
        pthread_cond_wait(&condition, &mutex);
      turns--;
      pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&end);
  }
  return arg;
}

__attribute__((noinline)) static void wake_x(void) {
  is_sem ? sem_post(&semaphore) : pthread_cond_signal(&condition);
}
__attribute__((noinline)) static void wake_y(void) {
  is_sem ? sem_post(&semaphore) : pthread_cond_signal(&condition);
}

int main(int argc, char **argv) {
  // A shorter sleep may be over before the kernel blocks the thread, and is
  // then no sleep in the trace.
  const struct timespec begins_round = {0, 100000};
  pthread_t threads[2];
  static pid_t tids[2];
  if (argc != 3)
    return 1;
  is_sem = strcmp(argv[1], "sem") == 0;
  sem_init(&semaphore, 0, 0);
  pthread_barrier_init(&begin, NULL, 3);
  pthread_barrier_init(&end, NULL, 3);
  if (mprof_trace_start(argv[2]) != 0)
    return 1;
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, wait_for_turns, &tids[i]);
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&begin);
    nanosleep(&begins_round, NULL);
    for (int k = 0; k < 2; k++)
      is_sem ? until_waits_for(&tids[k], &semaphore, sizeof(semaphore))
             : until_waits_for(&tids[k], &condition, sizeof(condition));
    pthread_mutex_lock(&mutex);
    turns = 2;
    wake_x();
    wake_y();
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&end);
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return mprof_trace_stop();
}
