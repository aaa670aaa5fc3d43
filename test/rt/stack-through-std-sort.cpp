// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a stack that passes through a standard algorithm in an uninstrumented
// object of the same program has all frames up to main.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gxx -O2 -fno-optimize-sibling-calls -DOBJECT -c %s -o sort.o
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s sort.o -o app
// RUN: %run{heap_rate=1:log_path=out} ./app
// RUN: %mprof_read --symbolize out.*.heap.pb.gz | FileCheck %s
// RUN: not grep -e "\[truncated\]" -e truncated_ out.*.txt
//
// CHECK-NOT: bytes=801 : {{([^m]|m[^a])*$}}
// CHECK: bytes=801 : is_less{{.*}} <- {{.*}} <- sort_numbers{{.*}} <- sort_by_is_less{{.*}} <- main{{$}}

bool is_less(int a, int b);
void sort_numbers(int *v, int n, bool (*less)(int, int));

#ifdef OBJECT

#include <algorithm>

void sort_numbers(int *v, int n, bool (*less)(int, int)) {
  std::sort(v, v + n, less);
  std::stable_sort(v, v + n, less);
}

#else

#include <cstdlib>

static void *volatile sink;

bool is_less(int a, int b) {
  free(sink = malloc(801));
  return a < b;
}

__attribute__((noinline)) static int sort_by_is_less() {
  int v[100];
  for (int i = 0; i < 100; i++)
    v[i] = i * 37 % 100;
  sort_numbers(v, 100, is_less);
  return v[0];
}

int main() { return sort_by_is_less(); }

#endif
