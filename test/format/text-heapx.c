// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the heapx profile in legacy text as counts of
// temporary blocks. The stacks with the most temporary blocks come first. Each
// stack appears once, and the line before it has all values.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app heapx.txt
// RUN: FileCheck %s --check-prefix=TEXT < heapx.txt
// RUN: %go tool pprof -raw app heapx.txt | FileCheck %s
// RUN: %go119 tool pprof -raw app heapx.txt | FileCheck %s
//
// TEXT: {{^}}heapx profile: total {{154[34]}}{{$}}
// TEXT-NEXT: {{^}}# temporary_objects={{153[89]}} temporary_space=1574405 in_place={{51[23]}} moved={{102[56]}} copied_space=307500 alloc_slack_space=20500 slack_space=15375{{$}}
// TEXT-NEXT: {{^}}{{153[89]}} @ [[LEAF:0x[0-9a-f]+]] [[ROOT:0x[0-9a-f]+]]{{$}}
// TEXT-NEXT: #	[[LEAF]]	leaf	{{.*}}text-heapx.c:[[#]]
// TEXT: {{^}}# temporary_objects=5 temporary_space=0 in_place=1 moved=0
// TEXT-NEXT: {{^}}5 @ [[ROOT]]{{$}}
// TEXT: # MProf
// TEXT: --- Memory map: ---
//
// CHECK: Samples:
// CHECK-NEXT: heapx/count
// CHECK-NEXT: {{153[89]}}: [[A:[0-9]+]] [[B:[0-9]+]]
// CHECK-NEXT: 5: [[B]]
// CHECK: [[A]]: 0x{{[0-9a-f]+}} M=1 leaf

#include "core.h"
#include "snap.h"

#include "process/process.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  CHECK(mprof_process_ready());
  mprof_pc both[] = {snap_pc(leaf, 1), snap_pc(root, 1)};
  snap_add(0, 5, 5, 1, both + 1);
  snap_add_heapx((uint64_t[]){5, 1, 0, 0, 0, 0});
  snap_add(1024, 10, 4, 2, both);
  snap_add_heapx((uint64_t[]){3, 1, 2, 600, 40, 10});
  snap_add(5, 1, 1, 2, both)->rate = 1;
  snap_add_heapx((uint64_t[]){1, 0, 0, 0, 0, 0});
  CHECK_EQ(snap_write(argv[1], MPROF_PROFILE_heapx, MPROF_FORM_TEXT), 0);
  return 0;
}
