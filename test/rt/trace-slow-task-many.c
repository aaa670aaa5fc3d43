// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if more tasks are open than trace_slow_task can look at, the report
// says how many it has missed.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{log_path=x:trace_last=10s:trace_slow_task=3600000} ./app
// RUN: FileCheck %s < x.*.txt
//
// 1,000 slots are missing.
// CHECK: 1{{,?}}000 tasks that trace_slow_task did not look at

#include <mprof/mprof.h>

enum { TASKS = 4096 + 1000 };

int main(void) {
  static uint64_t tasks[TASKS];
  for (int i = 0; i < TASKS; i++)
    tasks[i] = mprof_trace_task_begin(0, "request");
  for (int i = 0; i < TASKS; i++)
    mprof_trace_task_end(tasks[i]);
  return 0;
}
