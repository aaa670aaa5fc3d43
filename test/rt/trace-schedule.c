// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with trace_schedule, the running time of a thread in mprof trace top
// is its processor time, although threads share a processor. The rest is
// preempted, or off CPU if the thread has also waited in a way that MProf does
// not see. Without the option, all of it is running.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{trace=1:trace_schedule=1:log_path=x} ./app > ran
// RUN: %trace_check -q x.*trace
// RUN: %if go-1.23 %{%go tool trace -d=parsed x.*trace > /dev/null%}
// RUN: %trace_top --format=json x.*trace > json
// RUN: %python %S/Inputs/check_times.py 4 < json | FileCheck %s
// RUN: %python %src/test/tool/Inputs/check_json.py %src/docs/mprof.schema.json \
// RUN:   trace < json
// RUN: %python %S/Inputs/check_ran.py ran < json
// RUN: %run_quiet{trace=1:log_path=y} ./app > ran
// RUN: %trace_top y.*trace | not grep -E 'preempted|off CPU'
//
// CHECK-DAG: work tid running preempted {{.*}}sleep
// CHECK-DAG: hide tid running {{(preempted )?}}off_cpu

#include "waited.h"

#include "cpu_work.h"

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

enum { WORKERS = 2, ROUNDS = 3, ROUND_MS = 30, HIDDEN_MS = 20 };

static int begun;

// Uses the processor, and sleeps between the rounds, which the trace shows.
static void *work(void *arg) {
  __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < WORKERS)
    ;
  for (int i = 0; i < ROUNDS; i++) {
    const int64_t end = ran_ns() + ROUND_MS * INT64_C(1000000);
    while (ran_ns() < end)
      ;
    usleep(1000);
  }
  printf("%ld %lld\n", (long)syscall(SYS_gettid), (long long)ran_ns());
  return arg;
}

// Sleeps by a call that MProf does not see.
static void *hide(void *arg) {
  pause_us(HIDDEN_MS * 1000);
  usleep(1000);
  return arg;
}

int main(void) {
  pthread_t t[WORKERS + 1];
  cpu_set_t all, one;
  NEED(sched_getaffinity(0, sizeof(all), &all) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  NEED(sched_setaffinity(0, sizeof(one), &one) == 0);
  for (int i = 0; i < WORKERS; i++)
    NEED(pthread_create(&t[i], NULL, work, NULL) == 0);
  NEED(pthread_create(&t[WORKERS], NULL, hide, NULL) == 0);
  for (int i = 0; i <= WORKERS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}
