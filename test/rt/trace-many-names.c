// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace with more different region names than the format allows is
// valid and has the regions with the first names. MProf counts the events that
// are missing because there was no room for their names.
//
// REQUIRES: go-1.23
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o names
// RUN: %run{profile=0} ./names 2> said
// RUN: %trace_check -q names.trace
// RUN: %go tool trace -d=parsed names.trace > parsed
// RUN: FileCheck --input-file=parsed %s
// RUN: FileCheck --check-prefix=LOST --input-file=said %s
// CHECK: RegionBegin {{.*}} Type="name 0"
// CHECK: RegionEnd {{.*}} Type="name 2000"
// CHECK-NOT: Type="name 2400"
// The trace lacks the begins and ends of 500 regions, and of one more region
// for each name that the runtime itself uses.
// LOST: incomplete: trace_names_lost 1,00

#include <mprof/mprof.h>
#include <stdio.h>

int main(void) {
  char name[20];
  if (mprof_trace_start("names.trace") != 0)
    return 1;
  for (int i = 0; i < 2548; i++) {
    snprintf(name, sizeof(name), "name %d", i);
    mprof_trace_region_begin(0, name);
    mprof_trace_region_end(0, name);
  }
  return mprof_trace_stop();
}
