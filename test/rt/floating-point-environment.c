// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime neither changes nor depends on the floating-point
// environment of the program. Samples, waits, traces, profiles and the report
// raise no flag, also if the program traps each exception. The estimates are
// the same in each rounding mode, with denormals flushed to zero, and with
// another precision of the x87.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -pthread -I%src/test/Inputs %s -lm -o app
// RUN: for mode in default trap up down zero flush x87; do \
// RUN:   %run{heap_rate=4096:seed=7:heapx=1:peak=1:block_rate=1000000:mutex_fraction=1:block_kinds=all:trace_heap_kb=1:alloc_log=1:log_path=all} \
// RUN:     timeout 600 ./app $mode all || exit 1; \
// RUN:   %run{heap_rate=4096:seed=7:log_path=$mode} \
// RUN:     timeout 600 ./app $mode heap || exit 1; \
// RUN:   cat $mode.[0-9]*.txt | grep SUMMARY | sed 's, in [0-9]* blocks,,g' > $mode.sum; \
// RUN:   test -s $mode.sum && diff default.sum $mode.sum || exit 1; done

#define _GNU_SOURCE
#include "check.h"

#include <mprof/mprof.h>

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma STDC FENV_ACCESS ON

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int start[2];
void *volatile keep[1000];

// All control and status bits. The x87 has no other state that code can see: a
// function must leave its register stack empty.
static void look(unsigned v[4]) {
  memset(v, 0, 4 * sizeof(v[0]));
#ifdef __x86_64__
  unsigned short control, status;
  __asm__ volatile("stmxcsr %0" : "=m"(v[0]));
  __asm__ volatile("fnstcw %0" : "=m"(control));
  __asm__ volatile("fnstsw %0" : "=m"(status));
  v[1] = control;
  v[2] = status;
#else
  v[0] = (unsigned)fetestexcept(FE_ALL_EXCEPT);
  v[1] = (unsigned)fegetround();
#endif
}

static void set(const char *mode) {
  feclearexcept(FE_ALL_EXCEPT);
  if (strcmp(mode, "up") == 0)
    fesetround(FE_UPWARD);
  if (strcmp(mode, "down") == 0)
    fesetround(FE_DOWNWARD);
  if (strcmp(mode, "zero") == 0)
    fesetround(FE_TOWARDZERO);
  if (strcmp(mode, "trap") == 0)
    feenableexcept(FE_ALL_EXCEPT);
#ifdef __x86_64__
  unsigned mxcsr;
  unsigned short control;
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
  __asm__ volatile("fnstcw %0" : "=m"(control));
  if (strcmp(mode, "flush") == 0)
    mxcsr |= 0x8040; // flush to zero, denormals are zero
  if (strcmp(mode, "trap") == 0) {
    mxcsr &= ~0x100u; // denormal operands
    control &= (unsigned short)~2u;
  }
  if (strcmp(mode, "x87") == 0)
    control &= (unsigned short)~0x300u; // 24 bits of precision
  __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
  __asm__ volatile("fldcw %0" : : "m"(control));
#endif
}

__attribute__((noinline)) static void allocate(void) {
  for (size_t i = 0; i < 30000; i++) {
    void *volatile p = malloc(i % 3000 + 1);
    free(keep[i % 1000]);
    keep[i % 1000] = p;
  }
  for (int i = 0; i < 100; i++)
    keep[i] = realloc(keep[i], 10000);
}

static void *lock(void *arg) {
  NEED(write(start[1], "x", 1) == 1);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return arg;
}

static void wait_for_mutex(void) {
  char byte;
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  NEED(pthread_create(&thread, NULL, lock, NULL) == 0);
  NEED(read(start[0], &byte, 1) == 1);
  usleep(1000);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
}

static void write_profiles(void) {
  const char *names[32];
  size_t n;
  NEED(mprof_profiles(names, 32, &n) == 0);
  for (size_t i = 0; i < n; i++)
    for (int debug = 0; debug <= 1; debug++)
      mprof_write_profile(names[i], "/dev/null", debug);
}

int main(int argc, char **argv) {
  unsigned before[4], after[4];
  NEED(argc == 3 && pipe(start) == 0);
  look(after);
  CHECK_EQ(fetestexcept(FE_ALL_EXCEPT), 0);
  set(argv[1]);
  look(before);
#define UNCHANGED(call)                                                        \
  call;                                                                        \
  look(after);                                                                 \
  CHECK(memcmp(before, after, sizeof(before)) == 0)
  UNCHANGED(allocate());
  if (strcmp(argv[2], "heap") == 0)
    return 0;
  UNCHANGED(wait_for_mutex());
  UNCHANGED(NEED(mprof_trace_start("x.trace") == 0));
  UNCHANGED(allocate());
  UNCHANGED(wait_for_mutex());
  UNCHANGED(NEED(mprof_trace_stop() == 0));
  UNCHANGED(write_profiles());
  UNCHANGED(mprof_next_cycle());
  UNCHANGED(mprof_set_block_rate(1000));
  UNCHANGED(wait_for_mutex());
  return 0; // the files at the end are written in this environment, too
}
