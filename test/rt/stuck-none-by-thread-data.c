// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that waits for a condition is not reported as stuck if the
// program can still reach the condition. The condition is reachable if its
// address is the return value of an ended thread that was not yet joined. It is
// also reachable if a thread stored the address with pthread_setspecific, for
// the first 32 keys and for later keys. The argument of a detached thread that
// has ended does not make the condition reachable.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

#include <signal.h>

// glibc stores the first 32 keys in the thread's control block.
enum { KEYS = 40 };
static pthread_key_t keys[KEYS];
static volatile int known, must_end;

static void *end_with_gate(void *arg) {
  *(volatile pid_t *)arg = own_tid();
  return make_gate();
}

static void *have_gates(void *arg) {
  NEED(pthread_setspecific(keys[0], make_gate()) == 0);
  NEED(pthread_setspecific(keys[KEYS - 1], make_gate()) == 0);
  forget_calls();
  known = 1;
  while (!must_end) {
  }
  open_gate(pthread_getspecific(keys[0]));
  open_gate(pthread_getspecific(keys[KEYS - 1]));
  return arg;
}

static volatile pid_t ends;
static void *end(void *arg) {
  (void)arg;
  ends = own_tid();
  return NULL;
}
static void *make_gate_for_ended(void *arg) {
  pthread_t t;
  struct gate *g = make_gate();
  NEED(pthread_create(&t, NULL, end, g) == 0 && pthread_detach(t) == 0);
  forget_calls();
  return arg;
}

static void until_ended(volatile pid_t *tid) {
  for (int i = 0; i < 120000 && (*tid == 0 || tgkill(getpid(), *tid, 0) == 0);
       i++)
    usleep(1000);
  NEED(*tid != 0 && tgkill(getpid(), *tid, 0) != 0);
}

int main(void) {
  pthread_t ended, has;
  void *gate;
  static volatile pid_t tid;
  for (int i = 0; i < KEYS; i++)
    NEED(pthread_key_create(&keys[i], NULL) == 0);
  apart(make_gate_for_ended, NULL);
  until_ended(&ends);
  NEED(count_stuck() == 1);
  NEED(pthread_create(&ended, NULL, end_with_gate, (void *)&tid) == 0);
  NEED(pthread_create(&has, NULL, have_gates, NULL) == 0);
  until_ended(&tid);
  while (!known)
    usleep(1000);
  NEED(count_stuck() == 1);
  must_end = 1;
  NEED(pthread_join(ended, &gate) == 0);
  open_gate(gate);
  NEED(pthread_join(has, NULL) == 0);
  _exit(0);
}
