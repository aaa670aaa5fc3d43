// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report begins a stack with the program's innermost function, and
// names the function of the standard library that it called, as mprof top does.
// A frame that called no library function has no such name. With report_std=1,
// the functions of the library have frames of their own.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g %s -o app
// RUN: %run{heap_rate=1:log_path=a} ./app && FileCheck %s < a.*.txt
// CHECK: Stacks with the most bytes allocated
// CHECK: #0 {{.*}} in fill {{.*}}report-via.cpp:{{[0-9]+}}  via std::vector::resize{{$}}
// CHECK-NEXT: #1 {{.*}} in main {{.*}}.cpp:{{[0-9]+$}}
// CHECK: #0 {{.*}} in plain {{.*}}.cpp:{{[0-9]+$}}
// CHECK-NEXT: #1 {{.*}} in main {{.*}}.cpp:{{[0-9]+$}}
//
// mprof top says the same.
// RUN: %mprof top --sample=alloc_space a.*.heap.pb.gz | FileCheck %s --check-prefix=TOP
// TOP: fill  report-via.cpp:{{[0-9]+}}  via std::vector::resize
//
// RUN: %run{heap_rate=1:log_path=b:report_std=1} ./app && not grep ' via ' b.*.txt
// RUN: grep 'in std::vector::resize' b.*.txt

#include <cstdlib>
#include <vector>

__attribute__((noinline)) static void fill(std::vector<char> &v) {
  v.resize(100000);
  v[1] = 1;
}

__attribute__((noinline)) static char *plain() {
  return static_cast<char *>(std::malloc(5000));
}

int main() {
  std::vector<char> v;
  fill(v);
  char *p = plain();
  p[0] = v[0];
  std::free(p);
}
