// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a row of mprof tree has the line of its own call, also if a function
// has several rows, because it has called several library functions. A function
// that calls itself has the line of its innermost call. A row of mprof top has
// the line with the largest own value of the function, not that of a larger
// value of its callees. A row of mprof diff has the line that has changed, of
// the new program.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fno-optimize-sibling-calls %s -o app
// RUN: %run{heap_rate=1:log_path=p} ./app
// RUN: %mprof tree p.*.heap.pb.gz | FileCheck %s --check-prefix=TREE
// RUN: %mprof top --format=csv p.*.heap.pb.gz | FileCheck %s --check-prefix=TOP
// RUN: %run{heap_rate=1:log_path=less} ./app less
// RUN: %mprof diff less.*.heap.pb.gz p.*.heap.pb.gz --format=json | \
// RUN:   FileCheck %s --check-prefix=DIFF
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fno-optimize-sibling-calls -DOLD %s -o old
// RUN: %run{heap_rate=1:log_path=old} ./old
// RUN: %mprof diff old.*.heap.pb.gz p.*.heap.pb.gz --format=json | \
// RUN:   FileCheck %s --check-prefix=NEW

#include <cstdlib>
#include <string>
#include <vector>

static std::vector<char> *kept;
static std::string *text;
static void *volatile block;

__attribute__((noinline)) static void *outer(size_t n) { return malloc(n); }

__attribute__((noinline)) static void *two_calls(size_t size) {
  kept = new std::vector<char>(size);
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]] via std::vector
  // DIFF: "function": "two_calls", {{.*}}"line": [[#@LINE - 2]],
  text = new std::string(700000, 'x');
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]] via std::
  // TOP-DAG: "two_calls",{{.*}},[[#@LINE - 2]]
  return outer(3000000);
  // TREE-DAG: two_calls lines-of-calls.cpp:[[#@LINE - 1]]{{$}}
}

__attribute__((noinline)) static void calls_itself(int depth) {
  if (depth > 0)
    calls_itself(depth - 1);
  else
    block = malloc(800000);
  // TREE-DAG: calls_itself lines-of-calls.cpp:[[#@LINE - 1]]{{$}}
}

__attribute__((noinline)) static void shrinks() {
#ifdef OLD
  block = malloc(5000000);
#else
  block = malloc(3000000);
  // NEW: "function": "shrinks", {{.*}}"line": [[#@LINE - 1]],
#endif
}

int main(int argc, char **) {
  void *last = two_calls(argc > 1 ? 300000 : 600000);
  calls_itself(3);
  shrinks();
  return last == nullptr || kept == nullptr || text == nullptr;
}
