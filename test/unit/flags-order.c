// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: options in the environment override the program's own options, which
// override the defaults. help=1 prints all options and profiles, and the
// program then runs as usual.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: %run{report_top=7:help=1} %t 2>&1 | FileCheck %s
// CHECK: mprof: options for MPROF_OPTIONS{{.*}}; the program runs after this list:{{$}}
// CHECK: stack_depth
// CHECK-NEXT: maximum number of frames per stack
// CHECK-NEXT: default 128, now 64
// CHECK: top
// CHECK: default 20, now 7
// CHECK: external_symbolizer_path
// CHECK: default '', now ''
// CHECK: mprof: profiles, listed by the names that mprof_write_profile accepts{{.*}}:{{$}}
// CHECK-NEXT: {{^}}  heap: live and allocated blocks, by the stack that allocated them; file at exit: PATTERN.heap.pb.gz{{$}}
// CHECK-NEXT: {{^}}  allocs: {{.*}}; on request only{{$}}
// CHECK: went on

#define TEST_OPTIONS "report_top=5:stack_depth=64"
#include "core.h"

#include "options/flags.h"
#include "process/process.h"

int main(void) {
  CHECK(mprof_process_ready());
  CHECK_EQ(mprof_flags.report_top, 7);
  CHECK_EQ(mprof_flags.stack_depth, 64);
  CHECK_EQ(mprof_flags.max_memory_mb, 1024);
  CHECK(mprof_flags_environment("MPROF_OPTION") == NULL);
  puts("went on");
  return 0;
}
