// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an allocation, wait or trace event in a callback has a stack with all
// frames of the libraries that lead to the callback. The stack ends at the
// thread's first function. The libraries keep no frame pointers. They use the
// frame pointer register for other values, or leave the caller's frame address
// in it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O2 -fPIC -shared -fomit-frame-pointer -fno-optimize-sibling-calls \
// RUN:   -DLIBRARY -x c %s -o liblayers.so
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-optimize-sibling-calls \
// RUN:   -I%src/test/Inputs %s -o app \
// RUN:   -L. -llayers -Wl,-rpath,$PWD
// RUN: %run{heap_rate=1:block_rate=1:log_path=out:trace=1} ./app
// RUN: %mprof_read --symbolize out.*.heap.pb.gz | FileCheck %s
// RUN: %mprof_read --symbolize out.*.block.pb.gz | FileCheck %s \
// RUN:   --check-prefix=WAITS
// RUN: not grep -r -e "\[truncated\]" -e truncated_ out.*.txt
// RUN: %trace_print out.*.trace | FileCheck %s --check-prefix=TRACE
//
// Each sample has all ten allocations, so no allocation has lost a frame.
// How often the threads must wait depends on the load of the computer.
// CHECK-DAG: sample: 10 7010 {{.*}} callback <- keeps3 <- keeps2 <- keeps1 <- through_keeping <- main{{$}}
// CHECK-DAG: sample: 10 7020 {{.*}} callback <- uses3 <- uses2 <- uses1 <- through_using <- main{{$}}
// CHECK-DAG: bytes=703 : compare <- {{.*}} <- sort <- uses3 <- uses2 <- uses1 <- twice <- keeps3 <- keeps2 <- keeps1 <- work{{$}}
// CHECK-DAG: sample: 10 7040 {{.*}} callback <- keeps3 <- keeps2 <- keeps1 <- work{{$}}
// WAITS-DAG: sample: {{[1-3]}} {{.*}} : sem_wait <- wait <- keeps3 <- keeps2 <- keeps1 <- through_waiting <- main{{$}}
// WAITS-DAG: sample: {{[1-3]}} {{.*}} : sem_wait <- wait <- uses3 <- uses2 <- uses1 <- work{{$}}
// TRACE-DAG: main: GoBlockSync at sem_wait < wait < keeps3 < keeps2 < keeps1 < through_waiting < main{{$}}
// TRACE-DAG: work: GoBlockSync at sem_wait < wait < uses3 < uses2 < uses1 < work{{$}}

#ifdef LIBRARY

// These functions leave the caller's frame address in the register.
int keeps3(int (*f)(int), int v) { return f(v) + 1; }
int keeps2(int (*f)(int), int v) { return keeps3(f, v) + 1; }
int keeps1(int (*f)(int), int v) { return keeps2(f, v) + 1; }

// These functions use the register for a value.
#ifdef __aarch64__
// gcc for arm64 does not save the register if it is a clobber.
#define USES(name, value, call)                                                \
  __asm__(".text\n\t.global " #name "\n\t.type " #name ", %function\n" #name   \
          ":\n\t.cfi_startproc\n\tstp x29, x30, [sp, #-16]!\n\t"               \
          ".cfi_def_cfa_offset 16\n\t.cfi_offset 29, -16\n\t"                  \
          ".cfi_offset 30, -8\n\tmov x29, " #value "\n\t" call                 \
          "\n\tadd w0, w0, #1\n\tldp x29, x30, [sp], #16\n\t"                  \
          ".cfi_restore 30\n\t.cfi_restore 29\n\t.cfi_def_cfa_offset 0\n\t"    \
          "ret\n\t.cfi_endproc\n\t.size " #name ", .-" #name)
USES(uses3, #0, "mov x2, x0\n\tmov w0, w1\n\tblr x2");
USES(uses2, x1, "bl uses3");
USES(uses1, #1, "bl uses2");
#else
#define USE(v) __asm__ volatile("mov %0, %%ebp" ::"r"(v) : "rbp")
int uses3(int (*f)(int), int v) {
  USE(0);
  return f(v) + 1;
}
int uses2(int (*f)(int), int v) {
  USE(v);
  return uses3(f, v) + 1;
}
int uses1(int (*f)(int), int v) {
  USE(1);
  return uses2(f, v) + 1;
}
#endif

#else

#define _GNU_SOURCE
#include "sync-observe.h"

#include <semaphore.h>

extern int keeps1(int (*f)(int), int v), uses1(int (*f)(int), int v);

static void *volatile sink;
static sem_t posted;
static pid_t tid; // of the worker

static int callback(int size) {
  free(sink = malloc((size_t)size));
  return 0;
}

static int compare(const void *a, const void *b) {
  free(sink = malloc(703));
  return *(const int *)a - *(const int *)b;
}

static int sort(int n) {
  int v[] = {3, 2, 1, n};
  qsort(v, 4, sizeof(v[0]), compare);
  return v[0];
}

static int twice(int n) { return uses1(sort, n); }

static int wait(int n) {
  while (n-- > 0)
    while (sem_wait(&posted) != 0)
      ;
  return 0;
}

__attribute__((noinline)) static int through_keeping(int n) {
  return keeps1(callback, n);
}
__attribute__((noinline)) static int through_using(int n) {
  return uses1(callback, n);
}
__attribute__((noinline)) static int through_waiting(void) {
  return keeps1(wait, 3);
}

static void *work(void *arg) {
  keeps1(twice, 7);
  for (int i = 0; i < 10; i++)
    keeps1(callback, 704);
  about_to_wait(&tid);
  uses1(wait, 3);
  return arg;
}

// Posts when both threads wait.
static void *post(void *arg) {
  until_waits_for(&tid, &posted, sizeof(posted));
  until_main_waits(&posted, sizeof(posted));
  for (int i = 0; i < 6; i++)
    sem_post(&posted);
  return arg;
}

int main(void) {
  pthread_t worker, poster;
  sem_init(&posted, 0, 0);
  for (int i = 0; i < 10; i++) {
    through_keeping(701);
    through_using(702);
  }
  pthread_create(&poster, NULL, post, NULL);
  pthread_create(&worker, NULL, work, NULL);
  through_waiting();
  pthread_join(worker, NULL);
  pthread_join(poster, NULL);
  return 0;
}

#endif
