// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a trace, a thread of std::async has the type of the function that
// it runs as its name, and not the type of the library's function, which has
// hundreds of characters.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -g1 -O1 %s -o app
// RUN: %run_quiet{trace=1:log_path=gnu} ./app
// RUN: %trace_json -o json gnu*.trace && grep '"thread_name"' json | FileCheck %s
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -stdlib=libc++ -g1 -O1 %s -o app %}
// RUN: %if libcxx %{ %run_quiet{trace=1:log_path=llvm} ./app %}
// RUN: %if libcxx %{ %trace_json -o json llvm*.trace && grep '"thread_name"' json | FileCheck %s %}
//
// CHECK-DAG: "name":"std::async long (*)(int, std::{{.*}}vector<{{.*}} G
// CHECK-DAG: "name":"std::async main::$_0 G
// CHECK-NOT: _Async_state
// CHECK-NOT: __async

#include <future>
#include <vector>

static long work(int n, std::vector<int> v) { return n + (long)v.size(); }

int main() {
  auto f = std::async(std::launch::async, work, 1, std::vector<int>(10));
  auto g = std::async(std::launch::async, [] { return 5; });
  return f.get() + g.get() != 16;
}
