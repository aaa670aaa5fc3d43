// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that live for a millisecond are in the CPU profile with their
// processor time, although the kernel looks at timers less often. Their last
// period is shown at the start function.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:cpu_rate=100} ./app > truth
// RUN: %python %src/test/Inputs/cpu_check.py x.*.cpu.pb.gz truth

#include <pthread.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

static _Atomic int64_t start_ns;

static void *start(void *unused) {
  burn(1, &start_ns);
  return unused;
}

int main(void) {
  enum { ROUNDS = 100, THREADS = 10 };
  pthread_t t[THREADS];
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < THREADS; i++)
      NEED(pthread_create(&t[i], NULL, start, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
      NEED(pthread_join(t[i], NULL) == 0);
  }
  PRINT_TRUTH(start);
  return 0;
}
