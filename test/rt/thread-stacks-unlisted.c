// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if /proc/self/task cannot be read, a threads profile has only the
// threads that MProf has registered. The report says that other threads are
// missing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{symbolize=0:threads=1:block_rate=1} ./app
// RUN: FileCheck %s < mprof.app.*.txt
//
// CHECK: {{^ +2 }}thread profiles that lack the threads without recorded events, because /proc/self/task could not be read{{$}}

#include "waited.h"

#include <sys/resource.h>

static char text[1 << 16];
static void *volatile sink;

static int count_threads(void) {
  int n = 0;
  mprof_stack(text, sizeof(text), 1);
  for (const char *p = text; p != NULL; p = strstr(p, "\nthread "))
    n++, p++;
  return n;
}

static void *until_read(void *arg) {
  pthread_mutex_lock((pthread_mutex_t *)arg);
  pthread_mutex_unlock((pthread_mutex_t *)arg);
  return arg;
}

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct rlimit files, none;
  pthread_t t;
  sink = malloc(1);
  pthread_mutex_lock(&mutex);
  NEED(pthread_create(&t, NULL, until_read, &mutex) == 0);
  until_waited_for(&mutex);
  CHECK_EQ(count_threads(), 2);
  NEED(getrlimit(RLIMIT_NOFILE, &files) == 0);
  none = files;
  none.rlim_cur = 0;
  NEED(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK_EQ(count_threads(), 2);
  CHECK_EQ(count_threads(), 2);
  NEED(setrlimit(RLIMIT_NOFILE, &files) == 0);
  pthread_mutex_unlock(&mutex);
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
