// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with dump_on_signal=SEGV, the files are written if a signal handler
// crashes because it calls a null function pointer. The handler has interrupted
// a wait. MProf reads nothing at address 0.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=d:threads=1:dump_on_signal=SEGV} \
// RUN:   %python %S/Inputs/ends_by.py SEGV ./app
// RUN: ls d.*.heap.pb.gz d.*.threads.pb.gz

#include "waited.h"

#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

static void (*volatile nothing)(void);
static sem_t never;
static pid_t tid;

static void call_nothing(int signal) {
  (void)signal;
  nothing();
}

static void *wait_for_ever(void *arg) {
  about_to_wait(&tid);
  sem_wait(&never);
  return arg;
}

int main(void) {
  pthread_t t;
  void *volatile block = malloc(100);
  (void)block;
  signal(SIGUSR1, call_nothing);
  NEED(pthread_create(&t, NULL, wait_for_ever, NULL) == 0);
  until_waits_in(&tid, SYS_futex);
  pthread_kill(t, SIGUSR1);
  pthread_join(t, NULL);
}
