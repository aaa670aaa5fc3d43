// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that use a known processor time. print_truth prints "NAME NS" for
// cpu_check.py, which compares these times with a profile.

#ifndef MPROF_TEST_INPUTS_CPU_WORK_H
#define MPROF_TEST_INPUTS_CPU_WORK_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t ran_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

// Uses ms milliseconds of processor time, and adds what it has used to *used.
__attribute__((always_inline)) static inline void burn(unsigned ms,
                                                       _Atomic int64_t *used) {
  const int64_t begin = ran_ns();
  volatile unsigned long sum = 0;
  while (ran_ns() - begin < ms * INT64_C(1000000))
    for (int i = 0; i < 20000; i++)
      sum += (unsigned long)i;
  *used += ran_ns() - begin;
}

// Calls work until it has used ms milliseconds of processor time.
static inline void burn_by(unsigned ms, void (*work)(void)) {
  const int64_t begin = ran_ns();
  while (ran_ns() - begin < ms * INT64_C(1000000))
    work();
}

// Defines a function Name(ms) with its time in Name_ns. The statement behind
// the call keeps it from being a jump.
#define BURNER(Name)                                                           \
  static _Atomic int64_t Name##_ns;                                            \
  __attribute__((noinline)) static void Name(unsigned ms) {                    \
    burn(ms, &Name##_ns);                                                      \
    __asm__ volatile("" ::: "memory");                                         \
  }
#define PRINT_TRUTH(Name) printf(#Name " %lld\n", (long long)Name##_ns)

// Prints the time of the whole process.
static inline void print_total(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  printf("total %lld\n",
         (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000LL +
             (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000LL);
}

#endif // MPROF_TEST_INPUTS_CPU_WORK_H
