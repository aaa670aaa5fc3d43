// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the trace shows a thread as running until the end of the trace or
// snapshot, even if its last event is much earlier. An end event for this run
// is written in each trace format. A thread that waits or has ended gets no
// such event.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o runs
// RUN: %run_quiet ./runs whole.trace
// RUN: %run_quiet{trace_last=50ms} ./runs window.trace snapshot
// RUN: %trace_check -q *.trace
// RUN: for f in whole window; do \
// RUN:   %trace_print --no-stacks $f.trace > $f.txt && \
// RUN:   FileCheck %s < $f.txt || exit 1; done
// RUN: %trace_assert length --ms 100,1000000 whole.trace
// RUN: %run_quiet{trace_format=1.5} ./runs 1.5.trace
// RUN: %go119 tool trace -d runs 1.5.trace | grep -c GoPreempt | grep -x 2
//
// CHECK-COUNT-2: {{main|spin}}: GoPreempt{{$}}
// CHECK-NOT: {{.}}

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int begun;

static void *spin(void *arg) {
  for (begun++;;)
    ;
  return arg;
}

static void *wait_for_ever(void *arg) {
  pthread_mutex_lock(&m);
  for (begun++;;)
    pthread_cond_wait(&c, &m);
  return arg;
}

static void *end(void *arg) { return arg; }

// Computes for 100 ms without an event.
static void compute(void) {
  struct timespec from, now;
  clock_gettime(CLOCK_MONOTONIC, &from);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec <
         110000000);
}

int main(int argc, char **argv) {
  pthread_t spins, waits, ends;
  if (argc == 2 && mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_create(&spins, NULL, spin, NULL);
  pthread_create(&waits, NULL, wait_for_ever, NULL);
  pthread_create(&ends, NULL, end, NULL);
  pthread_join(ends, NULL);
  while (begun < 2)
    ;
  pthread_mutex_lock(&m); // wait_for_ever has released m, so it waits
  pthread_mutex_unlock(&m);
  compute();
  return argc == 2 ? mprof_trace_stop() : mprof_trace_snapshot(argv[1]);
}
