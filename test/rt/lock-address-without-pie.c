// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that is linked with -no-pie may take the address of
// pthread_mutex_lock, which is then in the program itself. The waits for its
// mutexes are recorded, as in any other program.
//
// RUN: %mprof_clang -fmprof -O1 -fno-pic -no-pie -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t
// RUN: %mprof_clang -fmprof -O1 -fno-pic -no-pie -Wl,-z,now -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t

#define _GNU_SOURCE
#include "sync-observe.h"

#include "mprof/mprof.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int (*volatile lock)(pthread_mutex_t *);

static void waits(void *arg) {
  (void)arg;
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  until_main_waits(NULL, 0); // it joins
}

int main(void) {
  struct thread t;
  size_t n = 0;
  lock = pthread_mutex_lock;
  CHECK_EQ(lock(&mutex), 0);
  start_waiting(&t, waits, NULL, &mutex, sizeof(mutex));
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(&t);
  mprof_block_profile(NULL, 0, &n);
  CHECK_EQ(n, 2); // the mutex and the join
  return 0;
}
