// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a stack that the unwinder has truncated ends with the pseudo frame
// [truncated]. So does a stack that contains code which is no longer mapped.
// pprof shows this frame.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app heap.pb.gz
// RUN: %go tool pprof -raw heap.pb.gz | FileCheck %s
// RUN: %go119 tool pprof -raw heap.pb.gz | FileCheck %s
// RUN: %go tool pprof -traces heap.pb.gz | FileCheck %s --check-prefix=TRACES
//
// CHECK: 1 100 1 100: [[LEAF:[0-9]+]] [[CUT:[0-9]+]]
// CHECK: 2 400 2 400: [[LEAF]] [[CUT]]
// CHECK: 3 900 3 900: [[LEAF]] [[CUT]]
// CHECK: 4 1600 4 1600: [[CUT]]
// CHECK: 5 2500 5 2500: [[LEAF]] [[ROOT:[0-9]+]]{{ *$}}
// CHECK: [[CUT]]: 0x0 M={{[0-9]+}} [truncated]
// TRACES: leaf
// TRACES-NEXT: [truncated]

#include "core.h"
#include "snap.h"

#include "unwind/unwind.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  snap.rate = 1;
  mprof_pc good[] = {snap_pc(leaf, 1), snap_pc(root, 1)};
  mprof_pc gone[] = {snap_pc(leaf, 1), 0x1000, snap_pc(root, 1)};
  snap_add(100, 1, 0, 1, good)->end = MPROF_STACK_CUT_CHAIN;
  snap_add(200, 2, 0, 1, good)->end = MPROF_STACK_CUT_DEPTH;
  snap_add(300, 3, 0, 3, gone);
  snap_add(400, 4, 0, 2, gone + 1);
  snap_add(500, 5, 0, 2, good);
  CHECK_EQ(snap_write(argv[1], MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  return 0;
}
