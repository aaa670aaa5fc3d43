// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests of threads that are stuck at a condition. A gate is a mutex
// and a condition for which one thread waits. No memory has the address of one
// of the gates, so its thread must be found as stuck. The address of each other
// gate is only in the place that the test is about.

#ifndef MPROF_TEST_INPUTS_GATES_H
#define MPROF_TEST_INPUTS_GATES_H

#include "waited.h"

#include <stdlib.h>

struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t opens;
  int is_open;
  pid_t tid; // of the waiting thread
  pthread_t waiter;
};

static void *wait_at_gate(void *arg) {
  struct gate *g = arg;
  pthread_mutex_lock(&g->mutex);
  about_to_wait(&g->tid);
  while (!g->is_open)
    pthread_cond_wait(&g->opens, &g->mutex);
  pthread_mutex_unlock(&g->mutex);
  return NULL;
}

// Makes a gate and a thread that waits at it.
__attribute__((noinline)) static struct gate *make_gate(void) {
  struct gate *g = calloc(1, sizeof(*g));
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->opens, NULL);
  NEED(pthread_create(&g->waiter, NULL, wait_at_gate, g) == 0);
  until_waits_in(&g->tid, SYS_futex);
  return g;
}

static inline void open_gate(struct gate *g) {
  pthread_mutex_lock(&g->mutex);
  g->is_open = 1;
  pthread_cond_signal(&g->opens);
  pthread_mutex_unlock(&g->mutex);
  NEED(pthread_join(g->waiter, NULL) == 0);
  free(g);
}

// Overwrites the stack below the caller: it may still hold gates' addresses.
__attribute__((noinline)) static void forget_calls(void) {
  volatile char old[16384];
  for (size_t i = 0; i < sizeof(old); i++)
    old[i] = 0;
}

// Calls fn in a thread of its own, whose stack is not searched afterwards.
static inline void apart(void *(*fn)(void *), void *arg) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, fn, arg) == 0);
  NEED(pthread_join(t, NULL) == 0);
  forget_calls();
}

static inline void *make_gate_and_forget(void *arg) {
  make_gate();
  forget_calls();
  return arg;
}
static inline void *put_gate(void *arg) {
  *(struct gate *volatile *)arg = make_gate();
  forget_calls();
  return NULL;
}

// Returns the number of stuck threads. The caller has made at least one gate
// whose address is lost, so 0 means that MProf gave the search up because the
// machine is busy. The search is then repeated.
__attribute__((noinline)) static size_t count_stuck(void) {
  static struct mprof_stack_record records[64];
  size_t n = 0;
  for (int i = 0; i < 12000 && n == 0; i++) {
    forget_calls();
    NEED(mprof_thread_leak_profile(records, 64, &n) == 0);
    if (n == 0)
      pause_us(10000);
  }
  return n;
}

#endif // MPROF_TEST_INPUTS_GATES_H
