// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a trace is written to a pipe, a slow reader of the pipe gets the
// complete trace. If the reader stops reading or closes the pipe,
// mprof_trace_stop returns an error and the program does not hang. All this
// holds for a non-blocking descriptor.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o %t
// RUN: %run_quiet{trace_max_mb=1} %t %t.trace
// RUN: %trace_check -q %t.trace

#include <errno.h>
#include <fcntl.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static const char *path;

static void *read_slowly(void *arg) {
  static char buf[20000];
  FILE *f = fopen(path, "w");
  ssize_t n;
  while (f && (n = read(ends[0], buf, sizeof(buf))) > 0) {
    fwrite(buf, 1, (size_t)n, f);
    usleep(1000);
  }
  if (f)
    fclose(f);
  return arg;
}

// Makes the given number of records and returns mprof_trace_stop's result.
static int trace(int records) {
  if (mprof_trace_start_fd(ends[1]) != 0)
    return -1;
  for (int i = 0; i < records; i++)
    mprof_trace_log(0, "key", "some text that fills the buffers");
  return mprof_trace_stop();
}

int main(int argc, char **argv) {
  pthread_t t;
  path = argc == 2 ? argv[1] : "";
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0 ||
      pthread_create(&t, NULL, read_slowly, NULL) != 0 || trace(60000) != 0)
    return 1;
  close(ends[1]);
  pthread_join(t, NULL);
  if (pipe(ends) != 0 || trace(30000) != ETIMEDOUT)
    return 2;
  close(ends[0]);
  if (trace(10) != EPIPE)
    return 3;
  return 0;
}
