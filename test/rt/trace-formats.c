// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace in format 1.5, as Go 1.19 reads it, has the same waits of
// each thread in the same order as a trace in format 1.23. The JSON of
// format 1.23 has the states and names of the threads. Addresses in format 1.5
// are addresses in the program's file. If trace_format is unknown, a message
// says so and the trace has format 1.23.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o formats
// RUN: for f in 1.5 1.23; do \
// RUN:   %run_quiet{trace_format=$f} ./formats $f.trace 2> $f.err || exit 1; done
// RUN: %trace_check -q 1.23.trace
// RUN: %if go-1.23 %{ %go tool trace -d=parsed 1.23.trace > /dev/null %}
// RUN: %go119 tool trace -d formats 1.5.trace > 1.5.txt
// RUN: waits='Go(Block(Sync|Cond|Net|Select)|Sleep|SysCall|Waiting|End)'; \
// RUN: %trace_print --thread-numbers --no-stacks 1.23.trace | \
// RUN:   sed -nE "s/^(G[0-9]+): $waits.*/\1 Go\2/p" | sort -s -k 1,1 | uniq > new && \
// RUN: sed -nE "s/^[0-9]+ $waits .*g=([0-9]+) .*/G\3 Go\1/p" 1.5.txt | \
// RUN:   sort -s -k 1,1 | uniq > old && diff new old
// RUN: FileCheck %s --check-prefix=WAITS < old
// WAITS-DAG: {{^}}G[[#THREAD:]] GoBlockSelect
// WAITS-DAG: {{^}}G[[#THREAD]] GoBlockSync
// WAITS-DAG: {{^}}G[[#THREAD]] GoBlockCond
// WAITS-DAG: {{^}}G[[#THREAD]] GoSleep
// WAITS-DAG: {{^}}G[[#THREAD]] GoSysCall
// RUN: %trace_json --stacks=text -o json 1.23.trace
// RUN: %timeline_print json > slices
// RUN: FileCheck %s --check-prefix=STATES < slices
// STATES-DAG: {{^}}  running{{,|$}}
// STATES-DAG: {{^}}  blocked: sync{{,|$}}
// STATES-DAG: {{^}}  blocked: cond{{,|$}}
// STATES-DAG: {{^}}  blocked: sleep{{,|$}}
// STATES-DAG: {{^}}  blocked: select{{,|$}}
// STATES-DAG: {{^}}  system call{{,|$}}
// STATES-DAG: {{^}}main G
// STATES-DAG: {{^}}run G
// STATES-DAG: {{^}}run_early G
//
// RUN: %python %S/Inputs/return_addresses.py 1.5.trace > pcs
// RUN: %llvm_tools/llvm-addr2line -fe formats $(cat pcs) > frames
// RUN: FileCheck %s --check-prefix=FRAMES < frames
// FRAMES: for_lock
// FRAMES-NEXT: trace-formats.c:[[#]]
// FRAMES-NEXT: run
// RUN: FileCheck %s --check-prefix=LEFT-OUT < 1.5.err
// LEFT-OUT: tasks, regions and messages of the program are missing from the trace: trace_format=1.5 cannot represent them
//
// RUN: %run{trace_format=1.9} ./formats other.trace 2> other.err
// RUN: FileCheck %s --check-prefix=OTHER < other.err
// OTHER: value '1.9' of option 'trace_format' is not 1.23 or 1.5; using 1.23
// RUN: head -c 13 other.trace > other.head
// RUN: grep -q '^go 1.23 trace' other.head

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <poll.h>
#include <sys/timerfd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_cond_t early = PTHREAD_COND_INITIALIZER;
static int is_ready;
static pid_t tids[2]; // of run_early and run
static int timer;

static void pause_for_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static __attribute__((noinline)) void for_lock(void) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
}

static __attribute__((noinline)) void for_condition(void) {
  pthread_mutex_lock(&m);
  while (!is_ready)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
}

// The wait begins before the trace. The trace does not show what ends it.
static int may_end;
static void *run_early(void *arg) {
  about_to_wait(&tids[0]);
  pthread_mutex_lock(&m);
  while (!may_end)
    pthread_cond_wait(&early, &m);
  pthread_mutex_unlock(&m);
  until_main_waits(NULL, 0); // it joins
  return arg;
}

// Makes a wait of each kind. The join waits for the end.
static void *run(void *arg) {
  struct pollfd nothing = {-1, 0, 0};
  char ticks[8];
  const uint64_t task = mprof_trace_task_begin(0, "task");
  mprof_trace_region_begin(task, "region");
  about_to_wait(&tids[1]);
  if (read(timer, ticks, sizeof(ticks)) != sizeof(ticks))
    _exit(1);
  mprof_trace_region_end(task, "region");
  mprof_trace_task_end(task);
  for_lock();
  for_condition();
  poll(&nothing, 1, 30);
  pause_for_ms(1);
  until_main_waits(NULL, 0);
  return arg;
}

int main(int argc, char **argv) {
  const struct itimerspec soon = {.it_value = {0, 1000000}};
  pthread_t t, before;
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  if (argc != 2 || timer < 0 ||
      pthread_create(&before, NULL, run_early, NULL) != 0)
    return 1;
  until_waits_for(&tids[0], &early, sizeof(early));
  if (mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_mutex_lock(&m);
  if (pthread_create(&t, NULL, run, NULL) != 0)
    return 1;
  until_waits_in(&tids[1], SYS_read);
  if (timerfd_settime(timer, 0, &soon, NULL) != 0)
    return 1;
  until_waits_for(&tids[1], &m, sizeof(m));
  pthread_mutex_unlock(&m);
  until_waits_for(&tids[1], &c, sizeof(c));
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
