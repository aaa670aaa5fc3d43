// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads four scaled values and the block size from the
// heap profile. The values equal those that Go computes for these samples.
// Frames have the names from the binary. The number of objects is rounded up or
// down depending on the addresses of the stack.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app heap.pb.gz allocs.pb.gz > address
// RUN: %go tool pprof -raw heap.pb.gz \
// RUN:   | FileCheck %s -DLEAF=$(cat address)
// RUN: %go119 tool pprof -raw heap.pb.gz \
// RUN:   | FileCheck %s -DLEAF=$(cat address)
// RUN: %go tool pprof -top heap.pb.gz | FileCheck %s --check-prefix=HEAP
// RUN: %go119 tool pprof -top heap.pb.gz | FileCheck %s --check-prefix=HEAP
// RUN: %go tool pprof -top allocs.pb.gz | FileCheck %s --check-prefix=ALLOCS
//
// CHECK: Comment: MProf {{[0-9.]+$}}
// CHECK: Comment: command: ./app heap.pb.gz allocs.pb.gz
// CHECK: Comment: heap_rate: 524288
// CHECK: PeriodType: space bytes
// CHECK: Period: 524288
// CHECK: Time: 2023-11-14
// CHECK: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes{{$}}
// CHECK: {{205[01]}} 2099200 {{153[78]}} 1574400: [[A:[0-9]+]] [[B:[0-9]+]]
// CHECK-NEXT: bytes:[1024]
// CHECK: {{[12]}} 829411 {{[12]}} 829411: [[B]]
// CHECK-NEXT: bytes:[524288]
// CHECK: {{[12]}} 829411 0 0: [[A]]
// CHECK-NEXT: bytes:[524288]
// A block of size 0 has no label.
// CHECK: 3 0 3 0: [[A]]
// CHECK-NEXT: Locations
// CHECK: [[A]]: [[LEAF]] M=1 leaf
// CHECK: [[B]]: 0x{{[0-9a-f]+}} M=1 root
// CHECK: Mappings
// CHECK-NEXT: 1: 0x{{[0-9a-f]+}}/0x{{[0-9a-f]+}}/0x{{[0-9a-f]+}} {{.*}}app {{[0-9a-f]+}}
//
// HEAP: Type: inuse_space
// HEAP: leaf
// ALLOCS: Type: alloc_space

#include "core.h"
#include "snap.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  // These are return addresses: each belongs to the instruction before it.
  mprof_pc both[] = {snap_pc(leaf, 1), snap_pc(root, 1)};
  snap_add(1024, 4, 1, 2, both);
  snap_add(524288, 1, 0, 1, both + 1);
  snap_add(524288, 1, 1, 1, both);
  snap_add(0, 3, 0, 1, both);
  CHECK_EQ(snap_write(argv[1], MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  CHECK_EQ(snap_write(argv[2], MPROF_PROFILE_allocs, MPROF_FORM_PPROF), 0);
  printf("%#lx\n", (unsigned long)leaf);
  return 0;
}
