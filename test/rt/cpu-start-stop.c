// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while threads begin and end, the CPU profile starts and stops again
// and again. Afterwards, no timer is left, also none of an ended thread.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{log_path=x} ./app

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../Inputs/check.h"

enum { TIMES = 500, STARTERS = 2, THREADS = 16 };

static atomic_int has_ended;

static void use_processor(int rounds) {
  for (volatile int i = 0; i < rounds; i++)
    ;
}

static void *work(void *unused) {
  use_processor(200000);
  return unused;
}

static void *make_threads(void *unused) {
  while (!has_ended) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
      NEED(pthread_create(&t[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
      NEED(pthread_join(t[i], NULL) == 0);
  }
  return unused;
}

int main(void) {
  pthread_t t[STARTERS];
  for (int i = 0; i < STARTERS; i++)
    NEED(pthread_create(&t[i], NULL, make_threads, NULL) == 0);
  for (int i = 0; i < TIMES; i++) {
    CHECK_EQ(mprof_start_cpu_profile(1000), 0);
    use_processor(1000000);
    mprof_stop_cpu_profile();
  }
  has_ended = 1;
  for (int i = 0; i < STARTERS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  FILE *f = fopen("/proc/self/timers", "r");
  if (f) {
    CHECK_EQ(fgetc(f), EOF);
    fclose(f);
  }
  return 0;
}
