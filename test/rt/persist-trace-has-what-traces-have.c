// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the trace that mprof recover writes for a killed process has what the
// process itself would have written: names of functions, threads and tasks,
// labels, wake-ups, the heap, and calls that had not ended. If the file could
// not grow, recover says that it has no complete trace.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread -I%src/include %s -o app
// RUN: %run_quiet{trace=1:heap_rate=1:trace_heap_kb=1} ./app end && mv mprof.app.*.trace end.trace
// RUN: %run_quiet{trace=1:heap_rate=1:trace_heap_kb=1:persist=p} not --crash ./app kill
// RUN: %mprof recover p > out 2> err && test ! -s err
// RUN: %trace_check -q end.trace p.trace
// RUN: for t in end p; do %trace_json --stacks=text -o $t.json $t.trace && \
// RUN:   %timeline_print $t.json > $t.slices || exit 1; done
// RUN: diff end.slices p.slices
// RUN: FileCheck %s < p.slices
// CHECK: {{^}}main G1
// CHECK: prepare, stack main
// CHECK: {{^}}sleeper G2
// CHECK: blocked: sync, woken by G1 at pthread_mutex_unlock < main
// CHECK: blocked: select, stack poll < nap
// RUN: %trace_print p.trace | FileCheck %s --check-prefix=EVENTS
// EVENTS-DAG: labels{{.*}}customer
// EVENTS-DAG: thread.name{{.*}}sleeper
//
// RUN: sh -c 'ulimit -f 800; MPROF_OPTIONS=trace=1:heap_rate=1:persist=f:report=0:profile=0 \
// RUN:   exec ./app kill' 2> err; test -s f
// RUN: %mprof recover f > out 2> err
// RUN: grep 'the file could not grow, so it has no complete trace' err

#define _GNU_SOURCE 1

#include <mprof/mprof.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Returns whether a thread of this process with this name is asleep.
static int is_asleep(pid_t tid) {
  char path[64], text[256] = "";
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
  FILE *f = fopen(path, "r");
  const size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
  if (f)
    fclose(f);
  const char *state = n ? strrchr(text, ')') : NULL;
  return state && state[2] == 'S';
}

static _Atomic pid_t sleeper;
static atomic_bool has_lock;

static void *nap(void *arg) {
  pthread_setname_np(pthread_self(), "sleeper");
  sleeper = gettid();
  pthread_mutex_lock(&lock);
  has_lock = true;
  pthread_mutex_unlock(&lock);
  poll(NULL, 0, -1);
  return arg;
}

static void *kept;

int main(int argc, char **argv) {
  pthread_t t;
  (void)argc;
  mprof_label_set("customer", "alice");
  const uint64_t task = mprof_trace_task_begin(0, "order");
  mprof_trace_region_begin(task, "prepare");
  pthread_mutex_lock(&lock);
  pthread_create(&t, NULL, nap, NULL);
  while (sleeper == 0 || !is_asleep(sleeper))
    ;
  kept = malloc(100000);
  pthread_mutex_unlock(&lock);
  mprof_trace_region_end(task, "prepare");
  mprof_trace_log(task, "note", "ready");
  mprof_trace_task_end(task);
  // No sleep here: it would be an event of the trace.
  while (!has_lock || !is_asleep(sleeper))
    ;
  if (strcmp(argv[1], "kill") == 0)
    kill(getpid(), SIGKILL);
  mprof_trace_stop();
  _exit(0);
}
