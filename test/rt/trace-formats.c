// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: what happened is the same in each format: mprof-trace2json shows the
// same slices in the same order, with the same wakers, and of 1.11 and 1.23
// the same stacks, regions and thread names. The addresses of 1.5 are those of
// the program's file. Another format than those is said, and is 1.11.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o formats
// RUN: for f in 1.5 1.11 1.23; do \
// RUN:   %run_quiet{trace_format=$f} ./formats $f.trace 2> $f.err && \
// RUN:   %trace_check -q $f.trace && \
// RUN:   %trace2json -o $f.json $f.trace || exit 1; done
// RUN: %go119 tool trace -d formats 1.5.trace > 1.5.txt
// RUN: %go tool trace -d=parsed 1.23.trace > 1.23.txt
// RUN: %python -B %S/Inputs/trace_formats.py 1.11.json 1.23.json 1.5.json > pcs
// RUN: %llvm_tools/llvm-addr2line -fe formats $(cat pcs) > frames
// RUN: FileCheck %s --check-prefix=FRAMES < frames
// FRAMES: for_lock
// FRAMES-NEXT: trace-formats.c:[[#]]
// FRAMES-NEXT: run
// RUN: FileCheck %s --check-prefix=LEFT-OUT < 1.5.err
// LEFT-OUT: trace_format 1.5 has no tasks, regions and logs
//
// RUN: %run{trace_format=1.9} ./formats other.trace 2> other.err
// RUN: FileCheck %s --check-prefix=OTHER < other.err
// OTHER: trace_format '1.9' is none of 1.11, 1.23 and 1.5; keeping 1.11
// RUN: head -c 13 other.trace > other.head
// RUN: grep -q '^go 1.11 trace' other.head

#include <mprof/mprof.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_cond_t early = PTHREAD_COND_INITIALIZER;
static int is_ready;
static atomic_int waits;
static int timer;

static void pause_for_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static __attribute__((noinline)) void for_lock(void) {
  waits = 1;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
}

static __attribute__((noinline)) void for_condition(void) {
  pthread_mutex_lock(&m);
  waits = 2;
  while (!is_ready)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
}

// It was there before the trace, and what ends its wait is not told.
static int may_end;
static void *run_early(void *arg) {
  pthread_mutex_lock(&m);
  waits = 3;
  while (!may_end)
    pthread_cond_wait(&early, &m);
  pthread_mutex_unlock(&m);
  pause_for_ms(50);
  return arg;
}

// The last pause is what the join waits for.
static void *run(void *arg) {
  const struct itimerspec soon = {.it_value = {0, 30000000}};
  struct pollfd nothing = {-1, 0, 0};
  char ticks[8];
  const uint64_t task = mprof_trace_task_begin(0, "task");
  mprof_trace_region_begin(task, "region");
  if (timerfd_settime(timer, 0, &soon, NULL) != 0 ||
      read(timer, ticks, sizeof(ticks)) != sizeof(ticks))
    _exit(1);
  mprof_trace_region_end(task, "region");
  mprof_trace_task_end(task);
  for_lock(); // which is counted after the call
  for_condition();
  poll(&nothing, 1, 30);
  pause_for_ms(50);
  return arg;
}

static void until_it_waits(int n) {
  while (waits != n)
    sched_yield();
  pause_for_ms(50);
}

int main(int argc, char **argv) {
  pthread_t t, before;
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  if (argc != 2 || timer < 0 ||
      pthread_create(&before, NULL, run_early, NULL) != 0)
    return 1;
  until_it_waits(3);
  if (mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_mutex_lock(&m);
  if (pthread_create(&t, NULL, run, NULL) != 0)
    return 1;
  until_it_waits(1);
  pthread_mutex_unlock(&m);
  until_it_waits(2);
  pthread_mutex_lock(&m);
  is_ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  pthread_mutex_lock(&m);
  may_end = 1;
  pthread_cond_signal(&early);
  pthread_mutex_unlock(&m);
  pthread_join(before, NULL);
  return mprof_trace_stop();
}
