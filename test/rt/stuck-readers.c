// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread waits for an rwlock that several readers hold. The report
// names the readers, at most eight of them, at the waiting thread. It shows for
// each reader where it took the lock.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: for n in 2 11; do \
// RUN:   %run_quiet{stuck=1} timeout 600 ./app $n || exit 1; done
// RUN: FileCheck %s --check-prefix=TWO < 2.txt
// RUN: FileCheck %s --check-prefix=MANY < 11.txt
// RUN: test $(grep -c 'holds rwlock .*, taken' 2.txt) = 2
// RUN: test $(grep -c 'holds rwlock .*, taken' 11.txt) = 11
//
// TWO: for rwlock {{.*}}, held by threads [[#A:]] and [[#B:]]{{$}}
// TWO: SUMMARY: MProf: threadleak: 3 threads, 0 certain, 3 likely, 1 cycles
//
// MANY: , held by threads {{([0-9]+, ){7}[0-9]+}} and 3 more{{$}}
// MANY: SUMMARY: MProf: threadleak: 12 threads, 0 certain, 12 likely, 1 cycles

#include "waited.h"

#include <stdlib.h>

enum { MAX = 16 };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static pid_t tids[MAX + 1];

static void *read_it(void *tid) {
  pthread_rwlock_rdlock(&rwlock);
  pthread_barrier_wait(&all);
  about_to_wait(tid);
  pthread_mutex_lock(&mutex);
  return tid;
}
static void *write_it(void *tid) {
  pthread_mutex_lock(&mutex);
  pthread_barrier_wait(&all);
  about_to_wait(tid);
  pthread_rwlock_wrlock(&rwlock);
  return tid;
}

int main(int argc, char **argv) {
  char path[16];
  pthread_t thread;
  const int n = argc == 2 ? atoi(argv[1]) : 0;
  NEED(n > 0 && n <= MAX);
  NEED(pthread_barrier_init(&all, NULL, (unsigned)n + 1) == 0);
  for (int i = 0; i <= n; i++)
    NEED(pthread_create(&thread, NULL, i < n ? read_it : write_it, &tids[i]) ==
         0);
  for (int i = 0; i <= n; i++)
    until_waits_in(&tids[i], SYS_futex);
  snprintf(path, sizeof(path), "%d.txt", n);
  NEED(mprof_write_profile("threadleak", path, 2) == 0);
  return 0;
}
