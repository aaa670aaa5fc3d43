// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program whose 2,000 threads meet at a barrier ends with a trace, as
// without MProf, and the trace has the end of each thread. (Thousands of
// threads wait for the runtime's locks here, so locks whose waiters wake up
// from time to time leave no processor time for the holder.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread -I%src/test/Inputs %s -o crowd
// RUN: timeout 600 env MPROF_OPTIONS=heap_rate=4096:trace=1:log_path=x ./crowd
// RUN: %trace_check -q x.*.trace
// RUN: %trace_print --no-numbers x.*.trace > events
// RUN: test $(grep -c GoEnd events) -ge 2000

#include "check.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 2000, STACK = 32768 };

static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *meet(void *arg) {
  void *volatile p = malloc(64);
  pthread_barrier_wait(&all);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  free(p);
  return arg;
}

int main(void) {
  static pthread_t t[THREADS];
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK);
  pthread_barrier_init(&all, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_create(&t[i], &attr, meet, NULL) == 0);
  pthread_barrier_wait(&all);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}
