// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: tasks, regions and messages of the program are in the trace with
// their names, parents, stacks and texts. A name is cut at 255 bytes and a
// message at 1024 bytes. If a region began before the trace, its end is not in
// the trace. Without a trace, the functions do nothing, and
// mprof_trace_task_begin returns 0.
//
// REQUIRES: go-1.23
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o user
// RUN: %run_quiet ./user
// RUN: %trace_check -q user.trace
// RUN: %trace_print user.trace | grep User | FileCheck --check-prefix=EVENTS %s
// RUN: %go tool trace -d=parsed user.trace | FileCheck %s
//
// EVENTS: {{^}}main: UserTaskCreate [[#TASK:]] in 0 "request" at serve < main
// EVENTS-NEXT: {{^}}main: UserTaskCreate [[#PART:]] in [[#TASK]] "part" at serve < main
// EVENTS-NEXT: UserRegion begin "parse" at
// EVENTS-NEXT: {{^}}main: UserLog "url" "/index.html" at
// EVENTS-NEXT: UserRegion end "parse" at
// EVENTS-NEXT: UserTaskEnd [[#PART]] at
// EVENTS-NEXT: UserTaskEnd [[#TASK]] at
// EVENTS-NEXT: {{^}}main: UserLog "{{(n{255})}}" "{{((x{32}){32})}}" at
// EVENTS-NEXT: {{^}}main: UserLog "" "" at
// EVENTS-NOT: User
//
// CHECK: TaskBegin {{.*}} Type="request"
// CHECK: RegionBegin {{.*}} Type="parse"
// CHECK: Log {{.*}} Category="url" Message="/index.html"
// CHECK: RegionEnd {{.*}} Type="parse"

#include <mprof/mprof.h>
#include <string.h>

static __attribute__((noinline)) void serve(void) {
  const uint64_t request = mprof_trace_task_begin(0, "request");
  const uint64_t part = mprof_trace_task_begin(request, "part");
  mprof_trace_region_begin(request, "parse");
  mprof_trace_log(request, "url", "/index.html");
  mprof_trace_region_end(request, "parse");
  mprof_trace_task_end(part);
  mprof_trace_task_end(request);
}

int main(void) {
  static char text[5001], name[301];
  if (mprof_trace_task_begin(0, "before") != 0)
    return 1;
  mprof_trace_region_begin(0, "before");
  if (mprof_trace_start("user.trace") != 0)
    return 1;
  mprof_trace_region_end(0, "before");
  serve();
  memset(text, 'x', sizeof(text) - 1);
  memset(name, 'n', sizeof(name) - 1);
  mprof_trace_log(0, name, text);
  mprof_trace_log(0, NULL, NULL);
  mprof_trace_task_end(0);
  if (mprof_trace_stop() != 0)
    return 1;
  mprof_trace_log(0, "after", "after");
  return 0;
}
