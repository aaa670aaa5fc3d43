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

#include "check.h"
#include "mprof/mprof.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool runs;
static int (*volatile lock)(pthread_mutex_t *);

static void *waits(void *arg) {
  atomic_store(&runs, true);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  usleep(200000); // until the main thread joins
  return arg;
}

int main(void) {
  pthread_t t;
  size_t n = 0;
  lock = pthread_mutex_lock;
  CHECK_EQ(lock(&mutex), 0);
  CHECK_EQ(pthread_create(&t, NULL, waits, NULL), 0);
  while (!atomic_load(&runs))
    sched_yield();
  usleep(50000); // until the other thread waits
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  CHECK_EQ(pthread_join(t, NULL), 0);
  mprof_block_profile(NULL, 0, &n);
  CHECK_EQ(n, 2); // the mutex and the join
  return 0;
}
