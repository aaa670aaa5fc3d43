// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the file that a killed program leaves has no end. The trace tools
// read the events before the cut, with the right times, and say that the rest
// is missing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app -pthread
// RUN: not --crash %run{trace=1:trace_max_mb=1:log_path=t} ./app > out
// RUN: mv t.*.tmp cut
// RUN: code=0; %trace_top cut > top 2> err || code=$?; test $code = 1
// RUN: FileCheck %s --check-prefix=TOP < top && FileCheck %s < err
// TOP: cut: 2 threads in
// TOP-NEXT: {{^[1-9][0-9][0-9][0-9][0-9]+}} waits
// TOP: woken by G
// CHECK: cut: offset 0x{{.*}}: {{the batch has .* left|.*inside a number|the file ends before the stacks}} [truncated]
// CHECK-NOT: cut:
// CHECK: cut: 1 violation of the trace format
//
// The program prints after what time it had made half of its rounds, and for
// how long it ran before it was killed. Only the newest events are not in the
// file.
// RUN: %python -c 'import re; \
// RUN:   n, unit = re.search(r"in ([\d.]+) (ms|s)\n", open("top").read()).groups(); \
// RUN:   shown = float(n) / (1 if unit == "s" else 1000); \
// RUN:   half, ran = map(float, open("out").read().split()); print(shown, half, ran); \
// RUN:   assert half < shown < ran * 1.1'
// RUN: %mprof html cut -o page.html 2> err && grep -c '"changes":{"count":[1-9]' page.html

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 60000 }; // more than trace_max_mb holds

static sem_t request, reply;

static void *echo(void *arg) {
  for (;;) {
    sem_wait(&request);
    sem_post(&reply);
  }
  return arg;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void) {
  const double begin = now();
  pthread_t thread;
  sem_init(&request, 0, 0);
  sem_init(&reply, 0, 0);
  pthread_create(&thread, NULL, echo, NULL);
  for (int i = 0; i < ROUNDS; i++) {
    if (i == ROUNDS / 2)
      printf("%f\n", now() - begin);
    sem_post(&request);
    sem_wait(&reply);
  }
  printf("%f\n", now() - begin);
  fflush(stdout);
  raise(SIGKILL);
}
