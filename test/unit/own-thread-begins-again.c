// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread of the runtime that was told to end begins again if it is
// started before it has ended, as by mprof_stop and mprof_start, and ends if it
// was told to end once more. A start of a thread that runs changes nothing.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: timeout 600 %t

#include "core.h"

#include "thread/threads.h"

#include <pthread.h>

static pthread_barrier_t told, changed;
static atomic_int begun;

// Waits until it is told to end, and then for the main thread.
static void run(void) {
  atomic_fetch_add(&begun, 1);
  pthread_barrier_wait(&told);
  while (mprof_own_wait(MPROF_OWN_WATCH, mprof_own_news(MPROF_OWN_WATCH),
                        UINT64_MAX))
    ;
  pthread_barrier_wait(&told);
  pthread_barrier_wait(&changed);
}

static void start(void) {
  CHECK(mprof_guard_enter());
  CHECK(mprof_own_start(MPROF_OWN_WATCH, "own", run) == 0);
  mprof_guard_leave();
}

static void stop(void) {
  mprof_own_stop(MPROF_OWN_WATCH);
  pthread_barrier_wait(&told);
}

static void wait_for_end(void) {
  while (mprof_own_runs(MPROF_OWN_WATCH))
    sched_yield();
}

int main(void) {
  pthread_barrier_init(&told, NULL, 2);
  pthread_barrier_init(&changed, NULL, 2);
  start();
  pthread_barrier_wait(&told);
  start();
  CHECK(!mprof_own_is_stopped(MPROF_OWN_WATCH));
  stop();
  start(); // it has not ended yet
  CHECK(mprof_own_is_stopped(MPROF_OWN_WATCH));
  pthread_barrier_wait(&changed);
  pthread_barrier_wait(&told);
  CHECK(atomic_load(&begun) == 2);
  CHECK(!mprof_own_is_stopped(MPROF_OWN_WATCH));
  stop();
  start();
  mprof_own_stop(MPROF_OWN_WATCH);
  pthread_barrier_wait(&changed);
  wait_for_end();
  CHECK(atomic_load(&begun) == 2);
  return 0;
}
