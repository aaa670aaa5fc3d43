// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the kernel refuses the timers of the CPU profile, the program runs
// as before. MProf says so once, and counts the threads.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x} ./app 2>&1 | FileCheck %s
// RUN: grep -q '  [4-8] threads missing from the CPU profile' x.*.txt
//
// CHECK:     mprof: the CPU profile lacks threads, because the kernel refuses a
// CHECK-SAME: timer: {{.*}} (see ulimit -i)
// CHECK-NOT: lacks threads

#include <mprof/mprof.h>
#include <pthread.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(work)

static void *run(void *unused) {
  work(10);
  return unused;
}

int main(void) {
  const struct rlimit none = {0, 0};
  pthread_t t;
  NEED(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
  CHECK_EQ(mprof_start_cpu_profile(100), 0);
  for (int i = 0; i < 3; i++) {
    NEED(pthread_create(&t, NULL, run, NULL) == 0);
    NEED(pthread_join(t, NULL) == 0);
  }
  mprof_stop_cpu_profile();
  return 0;
}
