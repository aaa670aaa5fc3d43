// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the lines of the report that people read use the singular for one
// byte, block and stack. The SUMMARY lines, which programs read, do not.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof=heap -O1 %s -o app
// RUN: %run{heap_rate=1:symbolize=0:log_path=p} ./app
// RUN: FileCheck --match-full-lines %s < p.*.txt
// CHECK: In use:    1 byte in 1 block
// CHECK: Samples:   1 allocated, 0 freed, 1 stack
// CHECK: 1. 1 byte in 1 block, 100.0%
// CHECK: SUMMARY: MProf: 1 bytes in 1 blocks in use, {{.*}} 1 stacks, {{.*}}

#include <stdlib.h>

void *volatile kept;

int main(void) {
  kept = malloc(1);
  return 0;
}
