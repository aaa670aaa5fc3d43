// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with trace_slow_task, a process that continues writes the trace
// around a task that took too long: it has the whole task, and what it waited
// for. A task that took less time has no file. dump_keep removes the oldest
// file.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o app
// RUN: %run_quiet{trace_slow_task=700:dump_keep=1:log_path=x} ./app 2> err
// RUN: ls x.*.slow_task.*.trace | count 1
// RUN: %trace_check -q x.*.trace
// RUN: %mprof latency x.*.slow_task.3.trace | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR < err
//
// CHECK: x.{{.*}}.slow_task.3.trace: 1 task in
// CHECK: The slowest tasks
// CHECK: sleep: main G{{.}} at serve trace-slow-task.c:[[#]]
//
// ERR:      mprof: task 2 'request' took {{[0-9]+}} ms; mprof latency shows why: wrote x.{{[0-9]+}}.slow_task.2.trace
// ERR-NEXT: mprof: task 3 'request' took {{[0-9]+}} ms; mprof latency shows why: wrote x.{{[0-9]+}}.slow_task.3.trace
//
// Without a slow task, only the trace at exit is written.
// RUN: %run_quiet{trace_slow_task=3600000:log_path=y} ./app one
// RUN: ls y.* | count 1

#include <glob.h>
#include <mprof/mprof.h>
#include <stdlib.h>
#include <unistd.h>

static void serve(unsigned ms) {
  const uint64_t task = mprof_trace_task_begin(0, "request");
  usleep(ms * 1000);
  mprof_trace_task_end(task);
}

// Waits until the file exists, or a minute has passed.
static void wait_for(const char *pattern) {
  for (int i = 0; i < 6000; i++) {
    glob_t g;
    const int error = glob(pattern, 0, NULL, &g);
    if (error == 0) {
      globfree(&g);
      return;
    }
    usleep(10000);
  }
  _exit(1);
}

int main(int argc, char **argv) {
  (void)argv;
  serve(0);
  if (argc > 1)
    return 0;
  serve(750);
  wait_for("x.*.slow_task.2.trace");
  serve(750);
  wait_for("x.*.slow_task.3.trace");
  return 0;
}
