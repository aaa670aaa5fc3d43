// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of acquisitions of a lock are recorded for a while after
// it was contended, and then no more. So it is with lock_order, too, in a
// thread that holds more locks than its list has room for.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -pthread -I%src/test/Inputs %s -o app
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} ./app
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:lock_order=1} ./app

#include "waited.h"

#include <pthread.h>

enum { HELD = 40, NOTES = 1 << 29, ENOUGH = 100 };

static pthread_mutex_t held[HELD];
// Has a word of __mprof_waiters of its own.
static _Alignas(64) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_noted(void) { return (waited_word(&lock) & NOTES) != 0; }

static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t waiter;
  pthread_mutex_lock(&lock);
  pthread_create(&waiter, NULL, waits, NULL);
  until_waited_for(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(waiter, NULL);
  NEED(is_noted());
  for (int i = 0; i < HELD; i++) {
    pthread_mutex_init(&held[i], NULL);
    pthread_mutex_lock(&held[i]);
  }
  for (int i = 0; i < ENOUGH; i++) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
  }
  NEED(!is_noted());
  return 0;
}
