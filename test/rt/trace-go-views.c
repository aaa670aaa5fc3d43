// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each page of the web view of "go tool trace" opens for traces of
// MProf. The traces are of a whole run, of a part, of a flight recorder and of
// a reader. Threads still run, wait and have open regions and tasks when the
// trace ends.
//
// REQUIRES: go-1.23
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o views
// RUN: %run{report=0:profile=0:trace=1:log_path=whole} ./views
// RUN: %run{report=0:profile=0:trace_last_mb=1:log_path=last} ./views
// RUN: %run_quiet ./views part.trace
// RUN: %run_quiet ./views read.trace reader
// RUN: %trace_check -q *.trace
// RUN: for f in whole.*.trace part.trace read.trace last.*.trace; do \
// RUN:   %go_views %go $f > out && FileCheck %s < out || exit 1; done
// RUN: %run{report=0:profile=0:trace=1:trace_format=1.5:log_path=old} ./views
// RUN: %go_views %go119 ./views old.*.trace > out
// RUN: FileCheck %s --check-prefixes=OLD < out
//
// CHECK: {{^}}/: 1 pages
// CHECK: {{^}}/block: {{[0-9]+}} pages
// CHECK: {{^}}/goroutine: {{[0-9]+}} pages
// CHECK: {{^}}/goroutines: 1 pages
// CHECK: {{^}}/jsontrace: {{[0-9]+}} pages, {{[0-9]+}} slices
// CHECK: {{^}}/mmu
// CHECK: {{^}}/userregions: 1 pages
// CHECK: {{^}}/usertasks: 1 pages
// CHECK-DAG: {{^ .*}}G{{[0-9]+}} main
// CHECK-DAG: {{^ .*}}G{{[0-9]+}} spin
// CHECK-DAG: {{^ .*}}G{{[0-9]+}} read_pipe
// CHECK-DAG: {{^ .*}}G{{[0-9]+}} take_turns
//
// OLD: {{^}}/: 1 pages
// OLD: {{^}}/block: {{[0-9]+}} pages
// OLD: {{^}}/goroutine: {{[0-9]+}} pages
// OLD: {{^}}/goroutines: 1 pages
// OLD: {{^}}/jsontrace: {{[0-9]+}} pages, {{[1-9][0-9]+}} slices

#include <errno.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int begun;
static int ends[2];

static void pause_for_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static void *spin(void *arg) {
  pause_for_ms(1);
  mprof_trace_region_begin(0, "endless");
  for (begun++;;)
    ;
  return arg;
}

static void *read_pipe(void *arg) {
  char byte;
  pause_for_ms(1);
  begun++;
  return read(ends[0], &byte, 1) == 1 ? arg : NULL;
}

static void *take_turns(void *arg) {
  pthread_mutex_lock(&m);
  for (begun++;;)
    pthread_cond_wait(&c, &m);
  return arg;
}

static void *run_short(void *arg) { return arg; }

static void begin(void *(*run)(void *)) {
  pthread_t t;
  pthread_create(&t, NULL, run, NULL);
  pthread_detach(t);
}

static void work(void) {
  pthread_t ends_early;
  const uint64_t whole = mprof_trace_task_begin(0, "whole");
  const uint64_t open = mprof_trace_task_begin(whole, "open");
  mprof_trace_region_begin(whole, "region");
  mprof_trace_region_begin(open, "open region");
  mprof_trace_region_begin(whole, "inner");
  mprof_trace_log(whole, "key", "value");
  mprof_trace_region_end(whole, "inner");
  pthread_create(&ends_early, NULL, run_short, NULL);
  begin(spin);
  begin(read_pipe);
  begin(take_turns);
  while (begun < 3)
    pause_for_ms(1);
  pause_for_ms(20);
  pthread_cond_signal(&c);
  pthread_join(ends_early, NULL);
  mprof_trace_task_end(whole);
}

static int read_trace(const char *path) {
  const void *data;
  FILE *out = fopen(path, "w");
  ssize_t n;
  while ((n = mprof_trace_read(&data)) > 0)
    fwrite(data, 1, (size_t)n, out);
  return fclose(out) != 0 || n != 0;
}

int main(int argc, char **argv) {
  if (pipe(ends) != 0)
    return 1;
  if (argc > 1 &&
      (argc > 2 ? mprof_trace_start_reader() : mprof_trace_start(argv[1])) != 0)
    return 2;
  work();
  if (argc > 1 && mprof_trace_stop() != 0)
    return 3;
  return argc > 2 ? read_trace(argv[1]) : 0;
}
