// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the four scaled values and the block size that
// Go's own table has for these samples, and names frames from the binary.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rt/{message,outfile,infile,os_writer,gzip,sort,pb,maps,wrappers,write_pprof}.c %rt/{os_linux,lock,arena,bucket,cycle,snapshot,sample,stats,threads,unwind_fp,livemap,event,place,init,flags,path}.c -o app
// RUN: ./app heap.pb.gz
// RUN: gzip -t heap.pb.gz
// RUN: %go tool pprof -raw heap.pb.gz | FileCheck %s
// RUN: %go119 tool pprof -raw heap.pb.gz | FileCheck %s
// RUN: %go tool pprof -top heap.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %go119 tool pprof -top heap.pb.gz | FileCheck %s --check-prefix=TOP
//
// CHECK: PeriodType: space bytes
// CHECK: Period: 524288
// CHECK: Time: 2023-11-14
// CHECK: alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes{{$}}
// CHECK: 2050 2099200 1537 1574400: [[A:[0-9]+]] [[B:[0-9]+]]
// CHECK-NEXT: bytes:[1024]
// CHECK: 1 829411 1 829411: [[B]]
// CHECK-NEXT: bytes:[524288]
// CHECK: 1 829411 0 0: [[A]]
// CHECK-NEXT: bytes:[524288]
// CHECK: Locations
// CHECK: [[A]]: 0x{{[0-9a-f]+}} M=1 leaf
// CHECK: [[B]]: 0x{{[0-9a-f]+}} M=1 root
// CHECK: Mappings
// CHECK-NEXT: 1: 0x{{[0-9a-f]+}}/0x{{[0-9a-f]+}}/0x{{[0-9a-f]+}} {{.*}}app {{[0-9a-f]+}}
//
// TOP: Type: inuse_space
// TOP: leaf
#include "snap.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  mprof_pc both[] = {snap_pc(leaf, 1), snap_pc(root, 2)};
  snap_add(1024, 4, 1, 2, both);
  snap_add(524288, 1, 0, 1, both + 1);
  snap_add(524288, 1, 1, 1, both);
  CHECK_EQ(mprof_write_heap_pprof(&snap, argv[1], false), 0);
  return 0;
}
