// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads with the smallest stacks that libc permits can allocate, have
// their allocations sampled, write a profile and end without stack overflow.
// Allocations in destructors of thread-specific data are counted, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{heap_rate=1} ./app

#include "records.h"

#include <pthread.h>

static pthread_key_t key;
static void *volatile sink;

static void at_thread_end(void *value) {
  free(value);
  sink = malloc(402);
}

static void *work(void *arg) {
  pthread_setspecific(key, malloc(401));
  for (int i = 0; i < 1000; i++) {
    sink = malloc(400);
    free(sink);
  }
  if (arg)
    CHECK(mprof_write_profile("heap", "small.pb.gz", 0) == 0);
  return NULL;
}

int main(void) {
  pthread_attr_t attr;
  pthread_key_create(&key, at_thread_end);
  pthread_attr_init(&attr);
  CHECK(pthread_attr_setstacksize(&attr, SMALLEST_STACK) == 0);
  for (int i = 0; i < 300; i++) {
    pthread_t t;
    CHECK(pthread_create(&t, &attr, work, i == 299 ? &key : NULL) == 0);
    pthread_join(t, NULL);
  }
  EXPECT(400, 1, 300000, 300000);
  EXPECT(401, 1, 300, 300);
  EXPECT(402, 1, 300, 0);
  return 0;
}
