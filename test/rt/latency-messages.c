// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof latency shows the last two messages of a task and of its parts
// on one line, without control characters and cut to 40 bytes.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run_quiet{trace=1:log_path=x} ./app
// RUN: %mprof latency x.*trace | FileCheck %s
// CHECK-DAG: request, task 1 from {{[0-9.]+}} s, sql=?[31mred?select, url=/{{(x{38})}}...{{$}}
// CHECK-DAG: silent, task 2 from {{[0-9.]+}} s{{$}}
// CHECK-DAG: part, task 3 from {{[0-9.]+}} s, sql=?[31mred?select{{$}}
//
// RUN: %mprof latency --format=json x.*trace > json
// RUN: %python %src/test/tool/Inputs/check_json.py %src/docs/mprof.schema.json \
// RUN:   latency < json
// RUN: grep -F '"messages":[{"key":"sql","text":"\u001b[31mred\u000aselect"},{"key":"url",' json

#include <mprof/mprof.h>
#include <string.h>

int main(void) {
  char url[100] = "/";
  memset(url + 1, 'x', 38);
  strcat(url, "\xc3\xa4 and more"); // the limit is within this character
  const uint64_t request = mprof_trace_task_begin(0, "request");
  const uint64_t silent = mprof_trace_task_begin(0, "silent");
  const uint64_t part = mprof_trace_task_begin(request, "part");
  mprof_trace_log(request, "id", "211");
  mprof_trace_log(part, "sql", "\033[31mred\nselect");
  mprof_trace_log(request, "url", url);
  mprof_trace_log(0, "other", "of no task");
  mprof_trace_task_end(part);
  mprof_trace_task_end(silent);
  mprof_trace_task_end(request);
  return 0;
}
