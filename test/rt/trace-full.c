// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the file of a trace cannot be opened, the records stay in memory.
// When they reach trace_max_mb, the trace ends for all threads at that point.
// If the file can be opened later, when the trace is stopped, the file is a
// valid trace. The report says that the trace ended early. The next trace has
// no old events.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o full
// RUN: %run{trace_max_mb=1:log_path=out} ./full
// RUN: %trace_check -q later/first.trace second.trace
// RUN: test $(stat -c %%s later/first.trace) -gt 500000
// RUN: test $(stat -c %%s second.trace) -lt 10000
// RUN: grep -q 'traces\? that ended early because the memory that trace_max_mb' out.*.txt

#include <mprof/mprof.h>
#include <pthread.h>
#include <sys/stat.h>

static void *fill(void *arg) {
  for (int i = 0; i < 100000; i++)
    mprof_trace_log(0, "key", "some text that takes memory");
  return arg;
}

int main(void) {
  pthread_t t[3];
  if (mprof_trace_start("later/first.trace") != 0)
    return 1;
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], NULL, fill, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
  if (mkdir("later", 0700) != 0 || mprof_trace_stop() != 0 ||
      mprof_trace_start("second.trace") != 0)
    return 1;
  mprof_trace_log(0, "key", "text");
  return mprof_trace_stop();
}
