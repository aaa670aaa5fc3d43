// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the heapx section of the report has the totals. It lists the stacks
// with the most temporary blocks, bytes copied and slack in use. An empty list
// is left out.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app report.txt one && FileCheck %s < report.txt
// RUN: ./app report.txt && FileCheck %s --check-prefix=NONE < report.txt
//
// CHECK: {{^}}Temporary blocks, resizes and slack (heapx profile){{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Temporary: 35 blocks, 30.27 KiB (31,000 bytes); 25.0% of all blocks{{$}}
// CHECK-NEXT: {{^}}Resized:   1.37 KiB (1,400 bytes) copied by 3 moves, 1 resize in place{{$}}
// CHECK-NEXT: {{^}}Slack:     430 bytes in use, 640 bytes in total{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Stacks with the most temporary blocks{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 30 blocks, 29.30 KiB (30,000 bytes); 85.7%{{$}}
// CHECK-NEXT: #0 {{.*}} in root
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}2. 5 blocks, 1,000 bytes; 14.3%{{$}}
// CHECK-NEXT: #0 {{.*}} in leaf
// CHECK: {{^}}Stacks with the most bytes copied{{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 1.37 KiB (1,400 bytes) copied by 3 moves, 1 resize in place; 100.0%{{$}}
// CHECK-NEXT: #0 {{.*}} in leaf
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}Stacks with the most slack in use (usable bytes beyond the requested size){{$}}
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}1. 400 bytes in use, 600 bytes in total; 93.0%{{$}}
// CHECK-NEXT: #0 {{.*}} in root
// CHECK: {{^}}SUMMARY: MProf: heapx: 35 temporary blocks, 31000 bytes, 1 resizes in place, 3 moves, 1400 bytes copied, 430 bytes of slack in use, 640 ever{{$}}
// CHECK-NEXT: {{^}}SUMMARY: MProf: {{.*}} in use
//
// NONE: {{^}}Temporary: 0 blocks, 0 bytes; 0.0% of all blocks{{$}}
// NONE-NEXT: {{^}}Resized:   0 bytes copied by 0 moves, 0 resizes in place{{$}}
// NONE-NOT: temporary blocks{{$}}
// NONE-NOT: bytes copied{{$}}
// NONE-NOT: most slack in use

#include "core.h"
#include "snap.h"

#include "process/process.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  CHECK(mprof_process_ready());
  snap.rate = 1;
  mprof_pc at_leaf[] = {snap_pc(leaf, 1)}, at_root[] = {snap_pc(root, 1)};
  uint64_t k = argc > 2; // 0: no heapx events at all
  snap_add(200, 20, 10, 1, at_leaf);
  snap_add_heapx((uint64_t[]){5 * k, 0, 2 * k, 400 * k, 40 * k, 10 * k});
  snap_add(1000, 20, 10, 1, at_leaf);
  snap_add_heapx((uint64_t[]){0, k, k, 1000 * k, 0, 0});
  snap_add(1000, 100, 50, 1, at_root);
  snap_add_heapx((uint64_t[]){30 * k, 0, 0, 0, 600 * k, 200 * k});
  CHECK_EQ(snap_report(argv[1]), 0);
  return 0;
}
