// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace that is much larger than trace_max_mb is written while the
// program runs, to a path or to a descriptor. Nothing is lost: the trace has
// the 30000 messages of each of three threads in order.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o streams
// RUN: %run{trace_max_mb=1:log_path=out} ./streams path.trace
// RUN: %run{trace_max_mb=1:log_path=out} ./streams > fd.trace
// RUN: %run{trace_max_mb=1:trace=1:log_path=out} ./streams run
// RUN: %trace_check -q path.trace fd.trace out.*.trace
// RUN: for i in 0 1 2; do \
// RUN:   seq -f "%%.0f of thread $i, and some more text" 0 29999 | \
// RUN:     sed "s/.*/fill.$((i + 1)): UserLog \"key\" \"&\"/"; done > wanted
// RUN: for f in path.trace fd.trace out.*.trace; do \
// RUN:   %trace_print --no-stacks $f | grep UserLog | sort -s -k 1,1 | \
// RUN:     cmp - wanted && \
// RUN:   test $(stat -c %%s $f) -gt 3145728 || exit 1; done
// RUN: not grep -q 'ended early' out.*.txt
// RUN: not ls mprof.trace* 2> /dev/null

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

int main(int argc, char **argv) {
  pthread_t t[THREADS];
  int error = argc < 2                      ? mprof_trace_start_fd(1)
              : strcmp(argv[1], "run") == 0 ? 0
                                            : mprof_trace_start(argv[1]);
  if (error != 0)
    return 1;
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, fill, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  return argc > 1 && strcmp(argv[1], "run") == 0 ? 0 : mprof_trace_stop();
}
