// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report of stuck threads has the stack at which a held lock was
// taken. This stack has the frames of libraries that keep no frame pointers.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O2 -fPIC -shared -fomit-frame-pointer -fno-optimize-sibling-calls \
// RUN:   -DLIBRARY -x c %s -o liblayers.so
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs -fno-optimize-sibling-calls %s -o app \
// RUN:   -L. -llayers -Wl,-rpath,$PWD
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: FileCheck %s < leak.txt
//
// CHECK: holds mutex
// CHECK-NEXT: in take
// CHECK-NEXT: in layer2
// CHECK-NEXT: in layer1
// CHECK-NEXT: in take_in_layers
// CHECK-NEXT: in work

#ifdef LIBRARY

int layer2(int (*f)(void)) { return f() + 1; }
int layer1(int (*f)(void)) { return layer2(f) + 1; }

#else

#define _GNU_SOURCE
#include "check.h"

#include <mprof/mprof.h>

#include <pthread.h>
#include <unistd.h>

extern int layer1(int (*f)(void));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int take(void) { return pthread_mutex_lock(&mutex); }

__attribute__((noinline)) static int take_in_layers(void) {
  return layer1(take);
}

static void *work(void *arg) {
  take_in_layers();
  pthread_mutex_lock(&mutex);
  return arg;
}

int main(void) {
  static struct mprof_stack_record records[4];
  size_t n = 0;
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  while (n == 0) {
    CHECK(mprof_thread_leak_profile(records, 4, &n) == 0);
    usleep(5000);
  }
  CHECK(mprof_write_profile("threadleak", "leak.txt", 2) == 0);
  _exit(0);
}

#endif
