// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program can read its trace with mprof_trace_read while it runs. The
// pieces together are a valid trace with every message in order. Meanwhile no
// other trace can be started. After the last piece, reads return an error and
// the next trace can begin.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o reader
// RUN: %run{profile=0:log_path=out} ./reader > first.trace
// RUN: %run_quiet ./reader again > second.trace
// RUN: %run_quiet{trace_format=1.5} ./reader at-the-end > old.trace
// RUN: %trace_check -q first.trace second.trace
// RUN: %go119 tool trace -d reader old.trace | grep -c GoEnd | grep -x 3
// RUN: for i in 0 1 2; do \
// RUN:   seq -f "%%.0f of thread $i, and some more text" 0 29999 | \
// RUN:     sed "s/.*/fill.$((i + 1)): UserLog \"key\" \"&\"/"; done > wanted
// RUN: %trace_print --no-stacks first.trace | grep UserLog | sort -s -k 1,1 | \
// RUN:   cmp - wanted
// RUN: test $(stat -c %%s first.trace) -gt 3145728
// RUN: not grep -q 'ended early' out.*.txt

#define CHECK_EXIT _exit
#include "check.h"

#include <errno.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, MESSAGES = 30000 };

static void *fill(void *arg) {
  char text[64];
  for (int i = 0; i < MESSAGES; i++) {
    snprintf(text, sizeof(text), "%d of thread %zu, and some more text", i,
             (size_t)arg);
    mprof_trace_log(0, "key", text);
  }
  return NULL;
}

static int writes;
static size_t least = 3; // number of pieces

static void *take(void *arg) {
  const void *data;
  ssize_t n;
  size_t pieces = 0;
  while ((n = mprof_trace_read(&data)) > 0) {
    pieces++;
    CHECK(!writes || write(1, data, (size_t)n) == n);
  }
  CHECK(n == 0 && data == NULL);
  CHECK(mprof_trace_read(&data) == -ESRCH);
  CHECK(pieces >= least);
  return arg;
}

static void trace_once(void) {
  pthread_t t[THREADS], reader;
  CHECK(mprof_trace_start_reader() == 0);
  CHECK(mprof_trace_start("x") == EBUSY && mprof_trace_start_reader() == EBUSY);
  CHECK(pthread_create(&reader, NULL, take, NULL) == 0);
  for (size_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&t[i], NULL, fill, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  CHECK(mprof_trace_stop() == 0);
  pthread_join(reader, NULL);
}

int main(int argc, char **argv) {
  const void *data;
  if (argc > 1 && strcmp(argv[1], "at-the-end") == 0)
    least = 2;
  CHECK(mprof_trace_read(&data) == -ESRCH);
  writes = argc == 1;
  trace_once();
  if (argc > 1) {
    writes = 1;
    trace_once();
  }
  return 0;
}
