// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that loads libmprof_preload.so by dlopen is profiled from
// mprof_start to mprof_stop, also with RTLD_GLOBAL, without PIE, and if it
// calls through pointers. Before, between and after, it runs without MProf, and
// nothing is written at its end. A second start counts blocks anew. Without
// dlopen, both functions return EALREADY.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g -fno-builtin -I%src/include -I%src/test/Inputs %s -o pie -pthread -ldl
// RUN: %gcc -O1 -g -fno-builtin -no-pie -I%src/include -I%src/test/Inputs %s -o no-pie -pthread -ldl
// RUN: for p in pie no-pie; do for mode in local global; do \
// RUN:   ./$p %preload $mode $p-$mode && \
// RUN:   ls $p-$mode.*.txt | grep -v '[.]2[.]txt' | xargs cat | FileCheck %s && \
// RUN:   cat $p-$mode.*.2.txt | FileCheck %s --check-prefix=AGAIN && \
// RUN:   test $(ls $p-$mode.* | grep -c txt) = 2 || exit 1; done; done
// RUN: LD_PRELOAD=%preload MPROF_OPTIONS=log_path=/dev/null ./pie %preload already
// CHECK: In use: {{.*}} (3,000 bytes) in 3 blocks
// CHECK-NEXT: Allocated: {{.*}} (10,000 bytes) in 10 blocks
// CHECK-NOT: in before
// CHECK-NOT: in afterwards
// CHECK: in during
// CHECK: Where threads waited
// CHECK: in waiter
// AGAIN: In use: {{.*}} (10,000 bytes) in 10 blocks
// AGAIN-NEXT: Allocated: {{.*}} (20,000 bytes) in 20 blocks

#define _GNU_SOURCE
#include "sync-observe.h"

#include <dlfcn.h>
#include <errno.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *kept[100];
static size_t count;
static struct {
  void *(*make)(size_t);
  void (*drop)(void *);
} functions = {malloc, free};

#define ALLOCATES(f)                                                           \
  __attribute__((noinline)) static void f(int n) {                             \
    while (n-- > 0)                                                            \
      kept[count++] = n % 2 ? malloc(1000) : functions.make(1000);             \
    __asm__ volatile("" ::: "memory");                                         \
  }
ALLOCATES(before)
ALLOCATES(during)
ALLOCATES(afterwards)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static pid_t waiter_tid;

static void *waiter(void *arg) {
  about_to_wait(&waiter_tid);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return arg;
}

static void contend(void) {
  pthread_t t;
  pthread_mutex_lock(&lock);
  waiter_tid = 0;
  pthread_create(&t, NULL, waiter, NULL);
  until_waits_for(&waiter_tid, &lock, sizeof(lock));
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
}

static int expect(const char *what, int found, int wanted) {
  if (found != wanted)
    printf("%s: %d, expected %d\n", what, found, wanted);
  return found != wanted;
}

int main(int argc, char **argv) {
  const char *mode = argc > 2 ? argv[2] : "";
  __asm__ volatile("" ::"r"(&functions) : "memory");
  before(20);
  contend();
  void *library = dlopen(
      argv[1], RTLD_NOW | (strcmp(mode, "global") == 0 ? RTLD_GLOBAL : 0));
  if (!library)
    return puts(dlerror()), 1;
  int (*start)(const char *) =
      (int (*)(const char *))dlsym(library, "mprof_start");
  int (*stop)(void) = (int (*)(void))dlsym(library, "mprof_stop");
  if (strcmp(mode, "already") == 0)
    return expect("start", start(NULL), EALREADY) |
           expect("stop", stop(), EALREADY);
  before(10);
  char options[200];
  snprintf(options, sizeof options,
           "log_path=%s:heap_rate=1:block_rate=1:block_kinds=all", argv[3]);
  int bad = expect("stop", stop(), EALREADY);
  bad |= expect("start", start(options), 0);
  bad |= expect("start", start(options), EALREADY);
  during(10);
  contend();
  for (int i = 0; i < 7; i++)
    (i % 2 ? free : functions.drop)(kept[--count]);
  free(kept[0]); // not counted
  bad |= expect("stop", stop(), 0);
  afterwards(10);
  bad |= expect("start", start(NULL), 0);
  during(10);
  bad |= expect("stop", stop(), 0);
  afterwards(10);
  return bad;
}
