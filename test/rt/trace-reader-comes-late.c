// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a trace is written to a pipe or a socket that nobody reads,
// threads do not wait while there is memory left. A reader that begins when all
// threads have ended gets the complete trace.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o late
// RUN: %run{profile=0:trace_max_mb=2:log_path=out} ./late
// RUN: %trace_check -q pipe.trace socket.trace
// RUN: for f in pipe.trace socket.trace; do \
// RUN:   test $(grep -a -o 'text of [a-z]*' $f | sort | uniq -c | \
// RUN:     awk '$1 == 20000' | wc -l) = 2 || exit 1; done
// RUN: not grep 'ended early' out.*.txt

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

// The records of both threads need more than half of trace_max_mb, where MProf
// begins to write, but less than all of it.
enum { RECORDS = 20000 };

static int ends[2];

static void *log_all(void *text) {
  for (int i = 0; i < RECORDS; i++)
    mprof_trace_log(0, "key", text);
  return NULL;
}

static void *read_all(void *path) {
  static char buf[65536];
  FILE *f = fopen(path, "w");
  ssize_t n;
  while (f && (n = read(ends[0], buf, sizeof(buf))) > 0)
    fwrite(buf, 1, (size_t)n, f);
  if (f)
    fclose(f);
  return NULL;
}

static int trace(char *path) {
  pthread_t one, other, reader;
  if (mprof_trace_start_fd(ends[1]) != 0 ||
      pthread_create(&one, NULL, log_all, "a text of one that fills buffers") ||
      pthread_create(&other, NULL, log_all, "a text of another, that does it"))
    return 1;
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  if (pthread_create(&reader, NULL, read_all, path) != 0)
    return 2;
  const int error = mprof_trace_stop();
  close(ends[1]);
  pthread_join(reader, NULL);
  close(ends[0]);
  return error;
}

int main(void) {
  if (pipe(ends) != 0 || trace("pipe.trace") != 0)
    return 1;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
      trace("socket.trace") != 0)
    return 2;
  return 0;
}
