// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with cpu_rate, mprof latency shows in which functions the thread of a
// slow task ran during the task, and mprof trace top shows it for the threads.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:trace=1:cpu_rate=200} ./app
// RUN: %mprof latency x.*trace | FileCheck %s --implicit-check-not=before_task
// RUN: %trace_top x.*trace | FileCheck %s --check-prefix=THREADS
// RUN: %trace_top --format=json x.*trace | %python \
// RUN:   %src/test/tool/Inputs/check_json.py %src/docs/mprof.schema.json trace
//
// CHECK:      1. {{.*}}: job, task 1 from
// CHECK:      running: main G1
// CHECK-NEXT: {{[0-9]}} % in_task{{.* \([0-9]+ CPU samples\)}}
//
// THREADS: running {{.*}} CPU samples
// THREADS: main G1 tid {{[0-9]+ +[0-9]+}} % before_task

#include "../Inputs/cpu_work.h"

#include "mprof/mprof.h"

static volatile unsigned long sum;

#define WORKER(Name)                                                           \
  __attribute__((noinline)) static void Name(void) {                           \
    for (unsigned long i = 0; i < 100000; i++)                                 \
      sum += i;                                                                \
  }
WORKER(before_task)
WORKER(in_task)

int main(void) {
  burn_by(400, before_task);
  const uint64_t task = mprof_trace_task_begin(0, "job");
  burn_by(200, in_task);
  mprof_trace_task_end(task);
  return 0;
}
