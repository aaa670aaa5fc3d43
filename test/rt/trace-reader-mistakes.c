// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while one thread reads a trace with mprof_trace_read, another thread
// cannot read the trace or write a snapshot. The trace is complete and valid
// even if the options have started a flight recorder before.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{trace_last_mb=1} timeout 600 %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: grep -a -q 'the first words' %t.trace
// RUN: test $(grep -a -o 'some text' %t.trace | wc -l) = 60000

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>

static pid_t tid; // of the reader
static const char *path;

static void *take(void *arg) {
  const void *piece;
  ssize_t n;
  FILE *f = fopen(path, "w");
  about_to_wait(&tid);
  while (f && (n = mprof_trace_read(&piece)) > 0)
    fwrite(piece, 1, (size_t)n, f);
  if (!f || n != 0 || fclose(f) != 0)
    return "failed";
  return arg;
}

static void *fill(void *arg) {
  for (int i = 0; i < 20000; i++) {
    mprof_trace_log(0, "key", "some text");
    if (i % 100 == 0)
      usleep(100); // lets the reader catch up
  }
  return arg;
}

int main(int argc, char **argv) {
  pthread_t reader, t[3];
  const void *piece;
  void *result;
  path = argc == 2 ? argv[1] : "";
  mprof_trace_stop(); // stops the recorder
  if (mprof_trace_start_reader() != 0)
    return 1;
  mprof_trace_log(0, "key", "the first words");
  pthread_create(&reader, NULL, take, NULL);
  until_waits_in(&tid, SYS_futex); // for more
  if (mprof_trace_read(&piece) != -EBUSY || mprof_trace_snapshot("x") == 0)
    return 2;
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], NULL, fill, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
  if (mprof_trace_stop() != 0 || pthread_join(reader, &result) != 0)
    return 3;
  return result != NULL;
}
