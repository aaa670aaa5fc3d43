// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if regions are nested more than 32 deep, the trace has only the 32
// outermost regions, each with its begin and its end.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace | grep -E ' (Region|Log)' > %t.text
// RUN: test $(grep -c RegionBegin %t.text) = 32
// RUN: FileCheck %s < %t.text
//
// CHECK-NOT: RegionEnd
// CHECK: Message="innermost"
// CHECK-NOT: RegionEnd
// CHECK: Message="31 deep"
// CHECK-NEXT: RegionEnd
// CHECK-NEXT: Message="30 deep"
// CHECK: Message="0 deep"
// CHECK-NEXT: RegionEnd
// CHECK-NOT: RegionEnd

#include <mprof/mprof.h>
#include <stdio.h>

static void visit(int depth) {
  char text[16];
  mprof_trace_region_begin(0, "visit");
  if (depth < 40)
    visit(depth + 1);
  else
    mprof_trace_log(0, "key", "innermost");
  snprintf(text, sizeof(text), "%d deep", depth);
  mprof_trace_log(0, "key", text);
  mprof_trace_region_end(0, "visit");
}

int main(int argc, char **argv) {
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  visit(0);
  return mprof_trace_stop();
}
