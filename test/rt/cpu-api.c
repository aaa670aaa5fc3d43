// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program starts and stops the CPU profile itself, several times, and
// only the time between is in the profile, with the labels of the threads. A
// wrong rate and a second start are errors. (Go: TestCPUProfileLabel,
// TestCPUProfileRecursion)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x} ./app > truth
// RUN: %python %src/test/Inputs/cpu_check.py x.*.cpu.pb.gz truth
// RUN: %python %src/test/Inputs/mprof_read.py --symbolize x.*.cpu.pb.gz \
// RUN:   | FileCheck %s
//
// CHECK:     sample_types: samples/count cpu/nanoseconds
// CHECK:     period: cpu/nanoseconds 5000000
// CHECK:     customer=7 : {{.*}}recursive <- recursive <- {{.*}} <- main

#include <mprof/mprof.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(on)
BURNER(off)
static _Atomic int64_t recursive_ns;

__attribute__((noinline)) static void recursive(int n) {
  if (n == 0)
    burn(200, &recursive_ns);
  else
    recursive(n - 1);
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  CHECK_EQ(mprof_start_cpu_profile(0), EINVAL);
  CHECK_EQ(mprof_start_cpu_profile(-1), EINVAL);
  CHECK_EQ(mprof_start_cpu_profile(1001), EINVAL);
  mprof_stop_cpu_profile();
  for (int i = 0; i < 5; i++) {
    off(20);
    CHECK_EQ(mprof_start_cpu_profile(200), 0);
    CHECK_EQ(mprof_start_cpu_profile(200), EBUSY);
    on(100);
    {
      MPROF_LABELS("customer", "7");
      recursive(3);
    }
    mprof_stop_cpu_profile();
  }
  CHECK_EQ(mprof_write_profile("cpu", "out.pb.gz", 0), 0);
  PRINT_TRUTH(on);
  PRINT_TRUTH(recursive);
  printf("off 1\n");
  return 0;
}
