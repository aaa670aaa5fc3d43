// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in the CPU profile, an inlined function has a frame of its own, a
// stack in the kernel's vdso goes on to main and has each function once, and a
// function never has a label that the thread sets only around another one. (Go:
// TestCPUProfileInlining, TestTimeVDSO, TestLabelRace)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g %s -o app
// RUN: %run{cpu_rate=1000:log_path=x} ./app
// RUN: %python %src/test/Inputs/mprof_read.py --symbolize x.*.cpu.pb.gz > out
// RUN: %python %S/Inputs/check_cpu_stacks.py out

#include <mprof/mprof.h>

#include "../Inputs/cpu_work.h"

enum { MS = 300 };
static volatile unsigned long sum;

__attribute__((always_inline)) static inline void inlined(void) {
  for (int i = 0; i < 20000; i++)
    sum += (unsigned long)i;
}

#define CALLER(Name, Work)                                                     \
  __attribute__((noinline)) static void Name(void) {                           \
    Work;                                                                      \
    __asm__ volatile("" ::: "memory");                                         \
  }
CALLER(calls_inlined, inlined())
CALLER(even, inlined())
CALLER(odd, inlined())

__attribute__((noinline)) static void reads_clock(void) {
  struct timespec ts;
  for (int i = 0; i < 20000; i++)
    clock_gettime(CLOCK_MONOTONIC, &ts);
  __asm__ volatile("" ::: "memory");
}

static void change_labels(void) {
  {
    MPROF_LABELS("race", "even");
    even();
  }
  {
    MPROF_LABELS("race", "odd");
    odd();
  }
}

int main(void) {
  burn_by(MS, calls_inlined);
  burn_by(MS, reads_clock);
  burn_by(MS, change_labels);
  return 0;
}
