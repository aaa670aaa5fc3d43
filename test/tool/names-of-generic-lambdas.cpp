// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a function whose mangled name LLVM's demangler refuses has a readable
// name, at exit and in the commands, because the C++ library demangles it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -std=c++20 -O0 -g1 %s -o app
// The case is as meant:
// RUN: %llvm_tools/llvm-nm -C app > nm.txt && grep -q _ZZ4mainENK3 nm.txt
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: grep "in main::.*::operator()" x.*.txt
// RUN: not grep _ZZ4main x.*.txt
// RUN: %mprof traces x.*.heap.pb.gz | FileCheck %s
// RUN: %run{heap_rate=1:report=0:symbolize=0:log_path=later} ./app
// RUN: %mprof traces later.*.heap.pb.gz | FileCheck %s
// CHECK-NOT: _ZZ4main
// CHECK: main::{{.*}}::operator()
// CHECK-NOT: _ZZ4main

#include <string>
#include <tuple>
#include <vector>

template <int N> struct Deep {
  template <class F> static auto go(F f) {
    return Deep<N - 1>::go([f](auto... a) { return f(std::make_tuple(a...)); });
  }
};

template <> struct Deep<0> {
  template <class F> static auto go(F f) { return f(1, 2.0, std::string("x")); }
};

std::vector<char> *kept;

int main() {
  Deep<7>::go([](auto t) {
    kept = new std::vector<char>(55555);
    return t;
  });
  return kept->size() == 1;
}
