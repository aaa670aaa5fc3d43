// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program whose locks are not instrumented, a signal handler
// interrupts the wait of a deadlocked thread and requests the list of stuck
// threads. The interrupted thread still counts as waiting. Its stack in the
// report begins at the wait, not in the handler.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof=heap -O1 -g1 -gdwarf-4 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app
// RUN: FileCheck %s < handler.txt
// RUN: not --crash %run{stuck=1:dump_on_signal=TERM:log_path=d} timeout 600 ./app dump
// RUN: cat d.*.txt | FileCheck %s --check-prefix=DUMP
//
// CHECK: Cycle 1 of 1: 2 threads wait for one another
// CHECK-DAG: #1 0x{{[0-9a-f]+}} in main {{.*}}stuck-unprepared-at-signal.c
// CHECK-DAG: #1 0x{{[0-9a-f]+}} in b_then_a {{.*}}stuck-unprepared-at-signal.c
// CHECK: SUMMARY: MProf: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles
//
// DUMP: Cycle 1 of 1: 2 threads wait for one another
// DUMP-COUNT-2: in pthread_mutex_lock
// DUMP: SUMMARY: MProf: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles

#include "waited.h"

#include <signal.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static pid_t tids[2];
static pthread_t first;

static void *b_then_a(void *arg) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  about_to_wait(&tids[1]);
  pthread_mutex_lock(&a);
  return arg;
}

static void on_signal(int sig) {
  (void)sig;
  NEED(mprof_write_profile("threadleak", "handler.txt", 2) == 0);
  _exit(0);
}

static void *kill_when_stuck(void *sig) {
  until_waits_in(&tids[0], SYS_futex);
  until_waits_in(&tids[1], SYS_futex);
  pthread_kill(first, (int)(uintptr_t)sig);
  return sig;
}

int main(int argc, char **argv) {
  (void)argv;
  const uintptr_t sig = argc > 1 ? SIGTERM : SIGUSR1;
  pthread_t t;
  signal(SIGUSR1, on_signal);
  first = pthread_self();
  NEED(pthread_barrier_init(&both, NULL, 2) == 0);
  NEED(pthread_create(&t, NULL, b_then_a, NULL) == 0);
  NEED(pthread_create(&t, NULL, kill_when_stuck, (void *)sig) == 0);
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  about_to_wait(&tids[0]);
  pthread_mutex_lock(&b);
  return 0;
}
