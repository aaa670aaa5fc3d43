// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the heap profile in legacy text and scales it to
// the numbers that Go computes. Records are ordered by bytes in use, and frames
// have names. If samples have different rates, the text contains scaled numbers
// and the rate 1.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app heap.txt equal.txt mixed.txt
// RUN: FileCheck %s --check-prefix=TEXT < heap.txt
// RUN: FileCheck %s --check-prefix=EQUAL < equal.txt
// RUN: %go tool pprof -raw app heap.txt | FileCheck %s
// RUN: %go119 tool pprof -raw app heap.txt | FileCheck %s
// RUN: for go in %go %go119; do $go tool pprof -raw app mixed.txt \
// RUN:   | FileCheck %s --check-prefix=MIXED || exit 1; done
// RUN: grep '^# the numbers are estimates of all blocks' mixed.txt
// RUN: not grep 'estimates' heap.txt
//
// TEXT: {{^}}heap profile: 4: 527360 [6: 1052672] @ heap/1048576{{$}}
// TEXT-NEXT: {{^}}1: 524288 [1: 524288] @ [[ROOT:0x[0-9a-f]+$]]
// TEXT-NEXT: #	[[ROOT]]	root	{{.*}}text-legacy.c:[[#]]
// TEXT: 3: 3072 [4: 4096] @ [[LEAF:0x[0-9a-f]+]] [[ROOT]]
// TEXT-NEXT: #	[[LEAF]]	leaf	{{.*}}text-legacy.c:[[#]]
// TEXT-NEXT: #	[[ROOT]]	root
// TEXT-NEXT: #	[truncated]
// TEXT: 0: 0 [1: 524288] @ [[LEAF]]
// TEXT: # MProf
// TEXT: # samples = 0
// TEXT: MAPPED_LIBRARIES:
// TEXT: {{^[0-9a-f]+-[0-9a-f]+ r..p .*/app$}}
//
// CHECK: PeriodType: space bytes
// CHECK: Period: 524288
// CHECK: 1 829411 1 829411:
// CHECK-NEXT: bytes:[524288]
// CHECK: 2050 2099200 1537 1574400: [[A:[0-9]+]] [[B:[0-9]+]]
// CHECK-NEXT: bytes:[1024]
// CHECK: 1 829411 0 0: [[A]]
// CHECK: Locations
// CHECK-DAG: {{ }}[[A]]: 0x{{[0-9a-f]+}} M=1 leaf
// CHECK-DAG: {{ }}[[B]]: 0x{{[0-9a-f]+}} M=1 root
//
// A profile without freed blocks must not be taken for one of two columns.
// EQUAL: heap profile: 1: 64 [1: 65] @ heap/1048576
// EQUAL-NEXT: 1: 64 [1: 64] @ 0x

// The rates are 524288, 1 and 77. The blocks of the last rate are unlikely to
// be missed, so that one sample is one block.
// MIXED: PeriodType: space bytes
// MIXED: Period: 1{{$}}
// MIXED-DAG: {{205[01]}} 2099200 {{205[01]}} 2099200:
// MIXED-DAG: 3 60 2 40:
// MIXED-DAG: 1 77777 0 0:

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "unwind/unwind.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 4);
  CHECK(mprof_process_ready());
  mprof_pc both[] = {snap_pc(leaf, 1), snap_pc(root, 1)};
  snap_add(1024, 4, 1, 2, both)->end = MPROF_STACK_CUT_CHAIN;
  snap_add(524288, 1, 0, 1, both + 1);
  snap_add(524288, 1, 1, 1, both);
  CHECK_EQ(snap_write(argv[1], MPROF_PROFILE_heap, MPROF_FORM_TEXT), 0);
  snap.len = 0;
  snap_add(64, 1, 0, 1, both);
  CHECK_EQ(snap_write(argv[2], MPROF_PROFILE_heap, MPROF_FORM_TEXT), 0);
  snap.len = 0;
  snap_add(1024, 4, 0, 2, both);
  snap_add(20, 3, 1, 2, both)->rate = 1;
  snap_add(77777, 1, 1, 1, both)->rate = 77;
  CHECK_EQ(snap_write(argv[3], MPROF_PROFILE_heap, MPROF_FORM_TEXT), 0);
  return 0;
}
