// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a debugger that has stopped the program anywhere may call
// mprof_stack, and the program goes on afterwards.
//
// REQUIRES: gdb
// RUN: %mprof_clang -fmprof -O1 -g -I%src/test/Inputs %s -o %t
// gdb itself may fail to write the registers back, so it has three tries.
// RUN: for try in 1 2 3; do \
// RUN:   %run_quiet{threads=1} gdb -nx -batch \
// RUN:   -ex 'set debuginfod enabled off' -ex 'handle SIG60 nostop noprint pass' \
// RUN:   -ex 'break stop_here' -ex run \
// RUN:   -ex 'call (unsigned long)mprof_stack(text, sizeof(text), 1)' \
// RUN:   -ex 'printf "%%s--\n", text' -ex continue %t > %t.out 2>&1; \
// RUN:   if FileCheck %s < %t.out; then break; fi; done
// RUN: FileCheck %s < %t.out
//
// CHECK: thread {{[0-9]+}} "{{.*}} [running]:
// CHECK: thread {{[0-9]+}} "{{.*}}[sem_wait]:
// CHECK: exited normally

#include "waited.h"

#include <semaphore.h>

static char text[65536];
static sem_t semaphore;
static pid_t tid;

__attribute__((noinline)) static void stop_here(void) {
  __asm__ volatile("" ::"r"(text) : "memory");
}

static void *wait_for_post(void *arg) {
  about_to_wait(&tid);
  sem_wait(&semaphore);
  return arg;
}

int main(void) {
  pthread_t t;
  NEED(sem_init(&semaphore, 0, 0) == 0);
  NEED(pthread_create(&t, NULL, wait_for_post, NULL) == 0);
  until_waits_in(&tid, SYS_futex);
  stop_here();
  sem_post(&semaphore);
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
