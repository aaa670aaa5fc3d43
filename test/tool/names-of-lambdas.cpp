// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: inlined lambdas and objects with a call operator, whose functions GCC
// calls only operator() in its debug information, have the names of their class
// or place and of the function around them.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for o in -gdwarf-4 -gdwarf-5 -flto; do g++ -O2 -g $o %s -o app && %mprof run --heap-rate=1 -o p ./app \
// RUN:   && %mprof top -n 0 p/*.heap.pb.gz | FileCheck %s && rm -r p || exit 1; done
// RUN: g++ -O2 -g -gsplit-dwarf -c %s -o app.o && g++ app.o -o app
// RUN: %mprof run --heap-rate=1 -o p ./app && %mprof top -n 0 p/*.heap.pb.gz | FileCheck %s
//
// CHECK-DAG: 8.00 KiB {{.*}}  main::{lambda names-of-lambdas.cpp:[[#@LINE+33]]}::operator()  names-of-lambdas.cpp:
// CHECK-DAG: 7.00 KiB {{.*}}  open::{lambda names-of-lambdas.cpp:[[#@LINE+12]]}::operator()  names-of-lambdas.cpp:
// CHECK-DAG: 6.00 KiB {{.*}}  shop::sell::{lambda names-of-lambdas.cpp:[[#@LINE+17]]}::operator()::{lambda names-of-lambdas.cpp:[[#@LINE+17]]}::operator()
// CHECK-DAG: 5.00 KiB {{.*}}  Hidden::operator()
// CHECK-DAG: 4.00 KiB {{.*}}  main::Local::operator()
// CHECK-DAG: 3.00 KiB {{.*}}  {lambda names-of-lambdas.cpp:[[#@LINE+5]]}::operator()
#include <stdlib.h>

void *volatile kept;

static auto global = [] { kept = malloc(3 << 10); };

static void open() {
  [] { kept = malloc(7 << 10); }();
}

namespace shop {
struct Till {};
__attribute__((noinline)) void sell(Till) {
  [] { [] { kept = malloc(6 << 10); }(); }();
}
} // namespace shop

namespace {
struct Hidden {
  void operator()() const { kept = malloc(5 << 10); }
};
} // namespace

int main() {
  struct Local {
    void operator()(int n) const { kept = malloc(n); }
  };
  [](int n) { kept = malloc(n); }(8 << 10);
  open();
  shop::sell({});
  Hidden()();
  Local()(4 << 10);
  global();
}
