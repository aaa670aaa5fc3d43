// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that waits for a condition is reported as stuck if no other
// thread can reach the condition, whether the condition lies in malloc's main
// arena or in the arena of a thread. This holds even if the condition is in the
// last block of the arena, or if the next block is free.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

enum { ARENAS = 4, GATES = 2 * (ARENAS + 1) };

static volatile int must_end;
static int made;

// Too large for malloc to keep for the thread when it is freed.
enum { LARGE = 4000 };

__attribute__((noinline)) static void make_gates(void) {
  void *volatile before = malloc(LARGE), *volatile after;
  make_gate();
  after = malloc(LARGE);
  before = malloc(LARGE);
  free(after);
  make_gate();
  __asm__ volatile("" ::"r"(before));
}

static void *make_gates_and_stay(void *arg) {
  make_gates();
  forget_calls();
  __atomic_fetch_add(&made, 1, __ATOMIC_RELEASE);
  while (!must_end)
    usleep(1000);
  return arg;
}

int main(void) {
  pthread_t t[ARENAS];
  for (int i = 0; i < ARENAS; i++)
    NEED(pthread_create(&t[i], NULL, make_gates_and_stay, NULL) == 0);
  make_gates();
  forget_calls();
  while (__atomic_load_n(&made, __ATOMIC_ACQUIRE) < ARENAS)
    usleep(1000);
  NEED(count_stuck() == GATES);
  must_end = 1;
  for (int i = 0; i < ARENAS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  _exit(0);
}
