// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with strict_cycles, if the program never calls mprof_next_cycle,
// every profile has the figures of the first profile, and the report says so.
// The report does not say so after a call of mprof_next_cycle, or without the
// option.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=none:strict_cycles=1} ./app
// RUN: %run{heap_rate=1:log_path=ends:strict_cycles=1} ./app ends
// RUN: %run{heap_rate=1:log_path=loose} ./app
// RUN: FileCheck %s < none.*.txt
// RUN: FileCheck %s --check-prefix=OTHERS < ends.*.txt
// RUN: FileCheck %s --check-prefix=OTHERS < loose.*.txt
// CHECK: Allocated: 100 bytes in 1 block{{$}}
// CHECK: Cycles:    strict_cycles=1, but the program never called mprof_next_cycle, so events after the first profile are missing
// CHECK: SUMMARY: MProf: 100 bytes in 1 blocks in use, 100 bytes in 1 blocks allocated
// OTHERS-NOT: never called mprof_next_cycle
// OTHERS: SUMMARY: MProf: 600 bytes in 2 blocks in use

#include "records.h"

static void *volatile sink;

int main(int argc, char **argv) {
  (void)argv;
  sink = malloc(100);
  CHECK(mprof_write_profile("heap", "first.pb.gz", 0) == 0);
  sink = malloc(500);
  if (argc > 1)
    mprof_next_cycle();
  CHECK(mprof_write_profile("heap", "second.pb.gz", 0) == 0);
  return 0;
}
