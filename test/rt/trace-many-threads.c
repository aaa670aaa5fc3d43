// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each thread in a trace needs a buffer, but a trace with little memory
// does not end early because of many threads. Later threads get smaller
// buffers. If no memory is left, a flight recorder goes on with the threads
// that have buffers. The report counts the threads that are missing from the
// trace.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o many
// RUN: %run{trace_max_mb=1:log_path=whole} ./many 100 start
// RUN: %trace_check -q out.trace
// RUN: not grep 'traces\? that ended' whole.*.txt
// RUN: test $(grep -a -o 'the last words of' out.trace | wc -l) = 100
// RUN: %run{trace_last_mb=1:log_path=last} ./many 100 stop
// RUN: %trace_check -q last.*.trace
// RUN: not grep 'traces\? that ended' last.*.txt
// RUN: not grep "missing from a flight recorder" last.*.txt
// RUN: test $(grep -a -o 'the last words of' last.*.trace | wc -l) = 100
// RUN: %run{trace_last_mb=1:log_path=lost} ./many 400 stop
// RUN: %trace_check -q lost.*.trace
// RUN: grep "missing from a flight recorder" lost.*.txt
// RUN: %trace_check lost.*.trace > counts
// RUN: test $(awk '/GoCreate|GoStatusStack/ {n += $1} END {print n}' counts) = \
// RUN:   $(awk '/ProcStart/ {print $1}' counts)
// RUN: not grep 'traces\? that ended' lost.*.txt
// RUN: test $(grep -a -o 'the last words of' lost.*.trace | wc -l) -gt 100

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all;

static void *fill(void *arg) {
  mprof_trace_log(0, "first", "words");
  pthread_barrier_wait(&all);
  for (int i = 0; i < 500; i++)
    mprof_trace_log(0, "key", "some text that takes memory");
  pthread_barrier_wait(&all);
  mprof_trace_log(0, "key", "the last words of");
  pthread_barrier_wait(&all);
  return arg;
}

int main(int argc, char **argv) {
  static pthread_t t[400];
  pthread_attr_t small;
  const int n = argc == 3 ? atoi(argv[1]) : 0;
  if (n < 1 || n > 400 ||
      (strcmp(argv[2], "start") == 0 && mprof_trace_start("out.trace") != 0))
    return 1;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&all, NULL, (unsigned)n);
  for (int i = 0; i < n; i++)
    if (pthread_create(&t[i], &small, fill, NULL) != 0)
      return 1;
  for (int i = 0; i < n; i++)
    pthread_join(t[i], NULL);
  return mprof_trace_stop();
}
