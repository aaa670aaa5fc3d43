// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: two functions lock 10,000 pairs of objects in different orders. The
// cycles of all pairs are one row, which says how many there are. Both stacks
// of each thread are right, and the samples have labels.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -std=c++17 -O1 -g1 %s -o app
// RUN: %run{lock_order=1:log_path=out} ./app 2> err
// RUN: FileCheck %s < out.*.txt
// RUN: FileCheck %s --check-prefix=LINE < err
// RUN: %mprof traces out.*.lockorder.pb.gz | FileCheck %s --check-prefix=TRACES
// RUN: %mprof run --lock-order -o out ./app 2>&1 | FileCheck %s --check-prefix=SHORT
//
// LINE: out.{{[0-9]+}}.lockorder.pb.gz (1 cycle of locks) and
// LINE-NOT: incomplete
//
// SHORT: 1 potential deadlock: threads take the same locks in different orders
// SHORT-NEXT: cycle 1, and 9,999 of other locks at the same lines
// SHORT-NEXT: holds 0x{{.*}} in audit
//
// CHECK: Total: 1 cycle{{$}}
// CHECK: Cycle 1 of 1: 2 locks, and 9,999 cycles of other locks with the same
// CHECK-NEXT: {{^$}}
// CHECK: thread [[#A:]]
// CHECK-NEXT: took mutex 0x[[#%x,X:]]
// CHECK: in audit {{.*}}lock-order-of-objects.cpp:[[#@LINE+30]]
// CHECK: and then mutex first (0x[[#%x,Y:]])
// CHECK: in audit {{.*}}lock-order-of-objects.cpp:[[#@LINE+29]]
// CHECK: thread [[#A]]
// CHECK-NEXT: took mutex first (0x[[#%x,Y]])
// CHECK: in transfer {{.*}}lock-order-of-objects.cpp:[[#@LINE+21]]
// CHECK: and then mutex 0x[[#%x,X]]
// CHECK: in transfer {{.*}}lock-order-of-objects.cpp:[[#@LINE+20]]
// CHECK: SUMMARY: MProf: lockorder: 1 cycles
//
// TRACES: cycle: 1
// TRACES-NEXT: step: 1 of 2: holds
// TRACES-NEXT: lock: 0x
// TRACES-NEXT: kind: mutex
// TRACES-NEXT: other_cycles: 9999
// TRACES-NEXT: audit
// TRACES: step: 1 of 2: takes
// TRACES: step: 2 of 2: holds
// TRACES-NEXT: lock: first (0x
// TRACES: step: 2 of 2: takes

#include <mprof/mprof.h>
#include <mutex>
#include <vector>

__attribute__((noinline)) void transfer(std::mutex &a, std::mutex &b) {
  std::lock_guard<std::mutex> outer(a);
  std::lock_guard<std::mutex> inner(b);
}
__attribute__((noinline)) void audit(std::mutex &a, std::mutex &b) {
  std::lock_guard<std::mutex> outer(b);
  std::lock_guard<std::mutex> inner(a);
}

int main() {
  std::vector<std::mutex> v(20000);
  mprof_name_lock(&v[0], "first");
  for (size_t i = 0; i < v.size(); i += 2) {
    transfer(v[i], v[i + 1]);
    audit(v[i], v[i + 1]);
  }
  return 0;
}
