// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report of stuck threads has the threads that got stuck a little
// later than the first ones, by a tenth of the wanted time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck_report=2:log_path=p} timeout 60 ./app
// RUN: grep 'SUMMARY: MProf: threadleak: 4 threads, 4 certain' p.*.stuck.txt

#include "check.h"

#include <glob.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t locks[4] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t barriers[2];

// Thread i takes lock i, and then that of the other thread of its pair.
static void *take_two(void *arg) {
  const long i = (long)arg;
  pthread_mutex_lock(&locks[i]);
  pthread_barrier_wait(&barriers[i / 2]);
  pthread_mutex_lock(&locks[i ^ 1]);
  return NULL;
}

int main(void) {
  glob_t found;
  for (long i = 0; i < 4; i++) {
    pthread_t thread;
    if (i % 2 == 0)
      NEED(pthread_barrier_init(&barriers[i / 2], NULL, 2) == 0);
    NEED(pthread_create(&thread, NULL, take_two, (void *)i) == 0);
    if (i == 1)
      usleep(200000);
  }
  while (glob("p.*.stuck.txt", 0, NULL, &found) != 0)
    usleep(10000);
  return 0;
}
