// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof locks shows holds whose begin is not known in the row of the
// holds with the same release whose begin is known, and explains the ? once,
// as mprof explain does.
// JSON keeps both pairs, and so does a release with two known begins.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app -lpthread
// RUN: %run{heap=0:mutex_fraction=1:log_path=p} ./app
// RUN: %mprof locks p.*.locks.pb.gz > out && FileCheck %s < out
// RUN: test $(grep -c '^note: ? is a hold' out) = 1 && not grep '? ->' out
// RUN: %mprof locks --format=md p.*.locks.pb.gz | grep '| .*s + ? | 1 | .*want .*| hold .*|'
// RUN: %mprof locks --format=md p.*.locks.pb.gz | grep -c '^? is a hold whose begin is not known, because no thread' | grep -x 1
// RUN: %mprof explain p.*.locks.pb.gz | grep -c '^? is a hold whose begin is not known, because no thread' | grep -x 1
// RUN: %mprof locks --format=json p.*.locks.pb.gz | grep -c '"taken": \[\]' | grep -x 1
// RUN: %run{heap=0:mutex_fraction=1:log_path=q} ./app two places
// RUN: %mprof locks q.*.locks.pb.gz | FileCheck %s --check-prefix=TWO
//
// CHECK: held queue waiter holder: taken -> released lock
// CHECK-NEXT: 100 % 2 {{.*}}s + ? 1 want locks-unknown-begin.c:{{[0-9]+}} hold locks-unknown-begin.c:{{.*}} mutex m (0x
// CHECK-EMPTY:
// TWO-DAG: want locks-unknown-begin.c:{{[0-9]+}} ? -> hold locks-unknown-begin.c
// TWO-DAG: want locks-unknown-begin.c:{{[0-9]+}} hold locks-unknown-begin.c
// TWO-DAG: want locks-unknown-begin.c:{{[0-9]+}} hold locks-unknown-begin.c

#define _GNU_SOURCE 1
#include "sync-observe.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter;

__attribute__((noinline)) static void *want(void *unused) {
  about_to_wait(&waiter);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return unused;
}

__attribute__((noinline)) static void hold(int place) {
  pthread_t t;
  // The statements keep the compiler from joining the calls.
  if (place == 0) {
    __asm__ volatile("# first" ::: "memory");
    pthread_mutex_lock(&m);
    __asm__ volatile("# first" ::: "memory");
  } else {
    pthread_mutex_lock(&m);
  }
  NEED(pthread_create(&t, NULL, want, NULL) == 0);
  until_waits_for(&waiter, &m, sizeof m);
  pthread_mutex_unlock(&m);
  NEED(pthread_join(t, NULL) == 0);
  waiter = 0;
}

int main(int argc, char **argv) {
  (void)argv;
  hold(0);
  hold(0);
  if (argc > 1)
    hold(1);
  return 0;
}
