// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report has the totals and lists the stacks with the most bytes in
// use and allocated, with blocks of all sizes together. Stacks include inlined
// frames, but no wrappers, start-up code or frames below main. The last line is
// for scripts.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app report.txt one two
// RUN: FileCheck %s < report.txt
// RUN: FileCheck %s --check-prefix=HIDDEN < report.txt
// HIDDEN-NOT: wrapper
// HIDDEN-NOT: start_thread
// HIDDEN-NOT: _start
//
// CHECK: {{^}}MProf {{[0-9.]+}} heap report
// CHECK: {{^}}Program:   app (pid {{[0-9]+}})
// CHECK-NEXT: {{^}}Time:      2023-11-14 22:13:20 UTC
// CHECK-NEXT: {{^}}Command:   ./app report.txt one two
// CHECK-NEXT: {{^}}Rate:      1, every block is counted
// CHECK: {{^}}In use:    2.93 MiB (3,071,400 bytes) in 17 blocks
// CHECK-NEXT: {{^}}Allocated: 12.53 MiB (13,142,710 bytes) in 40 blocks
// CHECK-NEXT: {{^}}Samples:   40 allocated, 23 freed, 6 stacks
// CHECK: {{^}}Stacks with the most bytes in use
// CHECK: {{^}}1. 2.86 MiB (3,000,000 bytes) in 4 blocks, 97.7%
// CHECK-NEXT: #0 0x[[PC:[0-9a-f]+]] in inlined {{.*}}report.c:[[#]]
// CHECK-NEXT: #1 0x[[PC]] in leaf {{.*}}report.c:[[#]]
// CHECK-NEXT: #2 0x{{[0-9a-f]+}} in root {{.*}}report.c:[[#]]
// CHECK-NEXT: #3 0x{{[0-9a-f]+}} in main {{.*}}report.c:[[#]]
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}2. 68.36 KiB (70,000 bytes) in 7 blocks, 2.3%
// CHECK-NEXT: #0 {{.*}} in root
// CHECK-NEXT: [truncated] at code without frame pointers
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}3. 1.27 KiB (1,300 bytes) in 5 blocks, 0.0%
// CHECK-NEXT: #0 {{.*}} in leaf
// CHECK-NEXT: [truncated] at the number of frames that stack_depth allows
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}4. 100 bytes in 1 block, 0.0%
// CHECK-NEXT: #0 {{.*}} in root
// CHECK-NEXT: [truncated] at code that is no longer mapped: 0x1234
// CHECK: {{^}}Stacks with the most bytes allocated
// CHECK: {{^}}1. 9.54 MiB (10,000,000 bytes) in 10 blocks, 76.1%
// CHECK-NEXT: #0 {{.*}} in root
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}2. 2.86 MiB
// CHECK: Missing from the profiles
// CHECK-NEXT: 1,234 events dropped because max_memory_mb
// CHECK: Size of the profiler's tables (not all of this memory is resident): {{[0-9]}}
// CHECK-NEXT: Resident memory of the process: {{.*}} bytes)
// CHECK: SUMMARY: MProf: 3071400 bytes in 17 blocks in use, 13142710 bytes in 40 blocks allocated, 6 stacks, 40 samples at rate 1{{$}}
// CHECK-NOT: {{.}}

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/wrappers.h"
#include "sys/stats.h"
#include "unwind/unwind.h"

static inline __attribute__((always_inline)) void inlined(void) {
  __asm__ volatile(".globl in_inlined\nnop\nin_inlined:\nnop");
}
__attribute__((noinline)) void leaf(void) {
  __asm__ volatile("nop");
  inlined();
}
__attribute__((noinline)) void root(void) { __asm__ volatile("nop;nop"); }
__attribute__((noinline)) void wrapper(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void start_thread(void) { __asm__ volatile("nop"); }
extern char in_inlined[], in_main[];

int main(int argc, char **argv) {
  __asm__ volatile(".globl in_main\nnop\nin_main:\nnop");
  CHECK_EQ(argc, 4);
  CHECK(mprof_process_ready());
  const char *const names[] = {"wrapper"};
  struct __mprof_wrappers node = {.names = names, .count = 1};
  __mprof_register_wrappers(&node);
  mprof_stat_add(MPROF_STAT_no_memory, 1234);

  snap.rate = 1;
  mprof_pc whole[] = {snap_pc(wrapper, 1), (mprof_pc)in_inlined,
                      snap_pc(root, 1), (mprof_pc)in_main, snap_pc(leaf, 1)};
  mprof_pc gone[] = {snap_pc(root, 1), 0x1234, snap_pc(leaf, 1)};
  mprof_pc thread[] = {snap_pc(root, 1), snap_pc(start_thread, 1)};
  snap_add(500000, 2, 0, 5, whole);
  snap_add(1000000, 2, 0, 5, whole);
  snap_add(10000, 14, 7, 1, gone)->end = MPROF_STACK_CUT_CHAIN;
  snap_add(260, 10, 5, 1, whole + 4)->end = MPROF_STACK_CUT_DEPTH;
  snap_add(10, 1, 1, 1, whole + 4)->end = MPROF_STACK_CUT_CHAIN;
  snap_add(100, 1, 0, 3, gone);
  snap_add(1000000, 10, 10, 2, thread);
  CHECK_EQ(snap_report(argv[1]), 0);
  return 0;
}
