// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: after a siglongjmp out of a wait, the trace shows the thread as
// running from its next event on. This holds even if that event comes from a
// deeper stack than the wait. Regions that a signal handler begins and ends
// during a wait are not in the trace.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace | FileCheck %s
//
// CHECK-NOT: Type="handler"
// CHECK: RegionBegin {{.*}}Type="deeper"
// CHECK: Running->Waiting Reason="sleep"
// CHECK: RegionEnd {{.*}}Type="deeper"
// CHECK-NOT: Type="handler"

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>

static sigjmp_buf out;
static volatile sig_atomic_t leaves, handled;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_t first;

// Interrupts the first thread when it waits for the condition.
static void *interrupt(void *arg) {
  until_main_waits(&c, sizeof(c));
  pthread_kill(first, SIGALRM);
  return arg;
}

static void on_alarm(int signal) {
  (void)signal;
  mprof_trace_region_begin(0, "handler");
  mprof_trace_region_end(0, "handler");
  handled = 1;
  if (leaves)
    siglongjmp(out, 1);
}

// Lets the wait end after the handler has returned.
static bool is_over; // guarded by m
static void *interrupt_and_end(void *arg) {
  interrupt(arg);
  while (!handled)
    pause_us(1000);
  until_main_waits(&c, sizeof(c));
  pthread_mutex_lock(&m);
  is_over = true;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return arg;
}

// Overwrites the frames that siglongjmp has left.
__attribute__((noinline)) static void deeper(int depth) {
  volatile char fill[256];
  memset((char *)fill, depth, sizeof(fill));
  if (depth > 0) {
    deeper(depth - 1);
    return;
  }
  mprof_trace_region_begin(0, "deeper");
  usleep(1000);
  mprof_trace_region_end(0, "deeper");
}

int main(int argc, char **argv) {
  pthread_t t;
  first = pthread_self();
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_mutex_lock(&m);
  pthread_create(&t, NULL, interrupt_and_end, NULL);
  while (!is_over)
    pthread_cond_wait(&c, &m);
  leaves = 1;
  if (sigsetjmp(out, 1) == 0) {
    pthread_create(&t, NULL, interrupt, NULL);
    pthread_cond_wait(&c, &m);
  }
  deeper(20);
  return mprof_trace_stop();
}
