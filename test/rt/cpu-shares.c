// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the CPU profile shows the processor time of functions in one thread
// and in several, and the sum is that of the process. go tool pprof reads it.
// Without the option, there is no profile. (Go: TestCPUProfile,
// TestCPUProfileMultithreaded, TestCPUProfileMultithreadMagnitude)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=one:cpu_rate=200} ./app 1 > one
// RUN: %python %src/test/Inputs/cpu_check.py one.*.cpu.pb.gz one
// RUN: %run{log_path=four:cpu_rate=200} ./app 4 > four
// RUN: %python %src/test/Inputs/cpu_check.py four.*.cpu.pb.gz four
// RUN: %go tool pprof -top four.*.cpu.pb.gz | grep -q ' large$'
// RUN: %mprof top four.*.cpu.pb.gz | FileCheck %s
// RUN: %run{log_path=off} ./app 1 && not ls off.*.cpu.pb.gz
//
// CHECK: cpu of ./app
// CHECK: {{[0-9.]+ m?s .*}} large
// CHECK: {{[0-9.]+ m?s}} in total

#include <pthread.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(small)
BURNER(middle)
BURNER(large)

enum { THREADS = 4 };

// The times are random, so that they have no common period with the timers.
static void *work(void *rounds) {
  unsigned seed = 1;
  for (int i = 0; i < *(int *)rounds; i++) {
    small(1 + (unsigned)rand_r(&seed) % 5);
    middle(1 + (unsigned)rand_r(&seed) % 10);
    large(1 + (unsigned)rand_r(&seed) % 40);
  }
  return NULL;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  const int threads = atoi(argv[1]);
  int rounds = 60 / threads;
  pthread_t t[THREADS];
  for (int i = 1; i < threads; i++)
    NEED(pthread_create(&t[i], NULL, work, &rounds) == 0);
  work(&rounds);
  for (int i = 1; i < threads; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  PRINT_TRUTH(small);
  PRINT_TRUTH(middle);
  PRINT_TRUTH(large);
  print_total();
  return 0;
}
