// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program whose stack overflows inside the profiler, and which
// recovers by siglongjmp, is profiled afterwards as before. The profile has the
// later blocks of this thread, those of other threads, and the number of events
// that the program has left.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 -pthread -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x:format=1} timeout 600 ./app 2> err
// RUN: cat x.*.heap.txt | FileCheck %s
//
// CHECK: 2000: 2000000 [2000: 2000000]
// CHECK-NEXT: # {{.*}} after_overflow
// CHECK: 100: 50000 [100: 50000]
// CHECK-NEXT: # {{.*}} other_thread
// CHECK: # left = {{[1-9]}}

#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

void *volatile keep[3000];
static sigjmp_buf recovery;

static void on_overflow(int sig) { siglongjmp(recovery, sig); }

__attribute__((noinline)) static int recurse(int depth) {
  volatile char frame[200];
  frame[0] = (char)depth;
  void *volatile p = malloc(16);
  free(p);
  return recurse(depth + 1) + frame[0];
}

// Moves the frames of the recursion by `bytes`, so that the stack ends in
// different functions of the profiler.
__attribute__((noinline)) static void overflow(size_t bytes) {
  volatile char shift[bytes];
  shift[0] = 0;
  if (sigsetjmp(recovery, 1) == 0)
    recurse(0);
}

__attribute__((noinline)) static void after_overflow(int i) {
  keep[i] = malloc(1000);
}

__attribute__((noinline)) static void *other_thread(void *arg) {
  for (int i = 2000; i < 2100; i++)
    keep[i] = malloc(500);
  return arg;
}

static void *overflow_often(void *arg) {
  static char handler_stack[65536];
  stack_t alternate = {.ss_sp = handler_stack,
                       .ss_size = sizeof(handler_stack)};
  NEED(sigaltstack(&alternate, NULL) == 0);
  for (size_t bytes = 16; bytes <= 1024; bytes += 16)
    overflow(bytes);
  for (int i = 0; i < 2000; i++)
    after_overflow(i);
  return arg;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
  pthread_attr_t small;
  pthread_t thread;
  NEED(sigaction(SIGSEGV, &action, NULL) == 0);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 131072);
  NEED(pthread_create(&thread, &small, overflow_often, NULL) == 0);
  pthread_join(thread, NULL);
  NEED(pthread_create(&thread, NULL, other_thread, NULL) == 0);
  pthread_join(thread, NULL);
  return 0;
}
