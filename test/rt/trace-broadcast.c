// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in the trace, a broadcast ends the waits of all threads that it
// wakes, at the time and line of the call. Each thread is runnable until it has
// got the mutex. This takes long here, because main holds the mutex for 30 ms
// and each thread for 50 ms.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o broadcast
// RUN: %run_quiet ./broadcast x.trace
// RUN: %trace_check -q x.trace
// RUN: %if go-1.23 %{ %go tool trace -d=parsed x.trace > /dev/null %}
// RUN: %trace_print --ticks x.trace | grep 'GoUnblock.* wake_all' | \
// RUN:   sed 's/[^ ]*: //' | sort | FileCheck --check-prefix=WAKES %s
// RUN: %trace_assert starts-after-wake --by wake_all --ms 30,80,130 x.trace
// RUN: %trace_top -r cond x.trace > top && FileCheck %s < top
// RUN: %run_quiet{trace_format=1.5} ./broadcast 1.5.trace
// RUN: %go119 tool trace -d broadcast 1.5.trace > /dev/null
//
// WAKES: {{^}}[[TIME:[0-9]+]] GoUnblock wait_for_all.1 from GoBlockCond pthread_cond_wait at {{.*}}wake_all
// WAKES-NEXT: {{^}}[[TIME]] GoUnblock wait_for_all.2 from GoBlockCond pthread_cond_wait at {{.*}}wake_all
// WAKES-NEXT: {{^}}[[TIME]] GoUnblock wait_for_all.3 from GoBlockCond pthread_cond_wait at {{.*}}wake_all
// WAKES-NOT: GoUnblock
//
// CHECK-DAG: woken by {{.*}}G1 at wake_all trace-broadcast.c:
// CHECK-DAG: woken at wake_all trace-broadcast.c:{{[0-9]+}} (the trace does not record the thread that ended the wait
// CHECK-DAG: woken at wake_all trace-broadcast.c:{{[0-9]+}} (the trace does not record the thread that ended the wait

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { THREADS = 3, MAIN_HOLDS_MS = 30, EACH_HOLDS_MS = 50 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiters;    // guarded by mutex
static bool may_go_on; // guarded by mutex

static void sleep_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static void *wait_for_all(void *arg) {
  pthread_mutex_lock(&mutex);
  waiters++;
  while (!may_go_on)
    pthread_cond_wait(&condition, &mutex);
  sleep_ms(EACH_HOLDS_MS);
  pthread_mutex_unlock(&mutex);
  return arg;
}

static bool all_wait(void) {
  pthread_mutex_lock(&mutex);
  const bool all = waiters == THREADS;
  pthread_mutex_unlock(&mutex);
  return all;
}

__attribute__((noinline)) static int wake_all(void) {
  may_go_on = true;
  return pthread_cond_broadcast(&condition);
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, wait_for_all, NULL);
  while (!all_wait())
    sleep_ms(1);
  pthread_mutex_lock(&mutex);
  wake_all();
  sleep_ms(MAIN_HOLDS_MS);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return mprof_trace_stop();
}
