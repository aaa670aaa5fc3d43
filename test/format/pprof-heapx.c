// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: go tool pprof reads the nine values of the heapx profile, which are
// scaled like those of the heap profile. By default, it shows temporary blocks.
// Stacks whose values are all 0 are left out. The numbers of freed blocks are
// in samples of their own, with the bound of the lifetimes as a label.
//
// REQUIRES: go, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app heapx.pb.gz
// RUN: for go in %go %go119; do \
// RUN:   $go tool pprof -raw heapx.pb.gz | FileCheck %s || exit 1; \
// RUN:   $go tool pprof -top heapx.pb.gz | FileCheck %s --check-prefix=TOP \
// RUN:     || exit 1; done
// RUN: %go tool pprof -sample_index=inuse_slack_space -top heapx.pb.gz \
// RUN:   | FileCheck %s --check-prefix=SLACK
// RUN: %mprof_read --totals heapx.pb.gz
//
// CHECK: Comment: heap_rate: 524288
// CHECK: PeriodType: space bytes
// CHECK: Period: 524288
// CHECK: temporary_objects/count[dflt] temporary_space/bytes in_place/count moved/count copied_space/bytes alloc_slack_space/bytes slack_space/bytes freed_objects/count lifetime/nanoseconds{{$}}
// Scaled by a factor of 512.5, as in pprof-values.c.
// CHECK: {{153[78]}} 1574400 {{51[23]}} {{102[56]}} 307500 20500 15375 0 51250: [[A:[0-9]+]] [[B:[0-9]+]]
// CHECK-NEXT: bytes:[1024]{{$}}
// CHECK-NEXT: 0 0 0 0 0 0 0 1025 0: [[A]] [[B]]
// CHECK-NEXT: bytes:[1024] lifetime:[64 nanoseconds]
// CHECK-NEXT: 0 0 0 0 0 0 0 512 0: [[A]] [[B]]
// CHECK-NEXT: bytes:[1024] lifetime:[281474976710656 nanoseconds]
// CHECK: 0 0 0 0 0 1 0 0 0: [[B]]
// CHECK-NEXT: bytes:[524288]
// CHECK-NEXT: 2 0 0 0 0 72 0 0 0: [[A]]
// CHECK-NEXT: Locations
//
// TOP: Type: temporary_objects
// TOP: {{15(39|40)}} 100% 100% {{15(39|40)}} 100% leaf
// SLACK: Type: slack_space
// SLACK: leaf

#include "core.h"
#include "snap.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  mprof_pc both[] = {snap_pc(leaf, 1), snap_pc(root, 1)};
  snap_add(1024, 10, 4, 2, both);
  snap_add_heapx((uint64_t[]){3, 1, 2, 600, 40, 10});
  static const struct mprof_heapx_lives lives = {100, {[5] = 2, [47] = 1}};
  snap_heapx[snap.len - 1].lives = &lives;
  snap_add(1024, 10, 10, 2, both); // all values are 0
  snap_add_heapx((uint64_t[]){0, 0, 0, 0, 0, 0});
  snap_add(524288, 1, 1, 1, both + 1);
  snap_add_heapx((uint64_t[]){0, 0, 0, 0, 1, 0}); // all are freed
  snap_add(0, 3, 2, 1, both); // more freed than known: a stale block
  snap_add_heapx((uint64_t[]){2, 0, 0, 0, 72, 80});
  CHECK_EQ(snap_write(argv[1], MPROF_PROFILE_heapx, MPROF_FORM_PPROF), 0);
  return 0;
}
