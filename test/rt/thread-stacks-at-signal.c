// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the options dump_on_signal and threads, a deadlocked program
// that a signal ends leaves a threads profile. The profile shows the wait of
// each thread, including the thread that got the signal.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: not --crash %run{threads=1:dump_on_signal=TERM:log_path=x.%%p} \
// RUN:   timeout 600 ./app
// RUN: %mprof_read --symbolize x.*.threads.pb.gz | FileCheck %s
//
// CHECK-DAG: sample: 1 state=waiting kind=mutex : pthread_mutex_lock <- take_second <- a_then_b{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex : pthread_mutex_lock <- take_second <- b_then_a{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=join : pthread_join <- wait_for_both <- main{{$}}

#include "waited.h"

#include <signal.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t threads[3];
static pid_t tids[3];

__attribute__((noinline)) static void take_second(pthread_mutex_t *m, int i) {
  pthread_barrier_wait(&barrier);
  about_to_wait(&tids[i]);
  pthread_mutex_lock(m);
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void *a_then_b(void *arg) {
  pthread_mutex_lock(&a);
  take_second(&b, 0);
  return arg;
}
__attribute__((noinline)) static void *b_then_a(void *arg) {
  pthread_mutex_lock(&b);
  take_second(&a, 1);
  return arg;
}

static void *end_it(void *first) {
  for (int i = 0; i < 3; i++)
    until_waits_in(&tids[i], SYS_futex);
  NEED(pthread_kill(*(pthread_t *)first, SIGTERM) == 0);
  return NULL;
}

__attribute__((noinline)) static void wait_for_both(void) {
  about_to_wait(&tids[2]);
  NEED(pthread_join(threads[0], NULL) == 0);
}

int main(void) {
  pthread_t first = pthread_self();
  NEED(pthread_barrier_init(&barrier, NULL, 2) == 0);
  NEED(pthread_create(&threads[0], NULL, a_then_b, NULL) == 0);
  NEED(pthread_create(&threads[1], NULL, b_then_a, NULL) == 0);
  NEED(pthread_create(&threads[2], NULL, end_it, &first) == 0);
  wait_for_both();
  return 0;
}
