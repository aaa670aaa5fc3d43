// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a function has several rows, because it has called several library
// functions, each row of mprof tree has the line of its own call. A row of
// mprof top that names a library function has a line with a call of it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fno-optimize-sibling-calls %s -o app
// RUN: %run{heap_rate=1:log_path=p} ./app
// RUN: %mprof tree p.*.heap.pb.gz | FileCheck %s --check-prefix=TREE
// RUN: %mprof top --format=csv p.*.heap.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %run{heap_rate=1:log_path=less} ./app less
// RUN: %mprof diff less.*.heap.pb.gz p.*.heap.pb.gz --format=json | \
// RUN:   FileCheck %s --check-prefix=DIFF

#include <cstdlib>
#include <string>
#include <vector>

static std::vector<char> *kept;
static std::string *text;

__attribute__((noinline)) static void *outer(size_t n) { return malloc(n); }

__attribute__((noinline)) static void *two_calls(size_t size) {
  kept = new std::vector<char>(size);
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]] via std::vector
  // TOP-DAG: "two_calls",{{.*}},[[#@LINE - 2]]
  // DIFF: "function": "two_calls", {{.*}}"line": [[#@LINE - 3]],
  text = new std::string(200000, 'x');
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]] via std::
  return outer(3000000);
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]]{{$}}
}

int main(int argc, char **) {
  return two_calls(argc > 1 ? 300000 : 600000) == nullptr || kept == nullptr ||
         text == nullptr;
}
