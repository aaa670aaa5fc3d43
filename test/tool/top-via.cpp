// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof top names the library function that a function has called, if
// most of the function's value comes from it. A row with several causes names
// none.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:log_path=p} ./app
// RUN: %mprof top p.*.heap.pb.gz | FileCheck %s
// CHECK-DAG: mixed top-via.cpp:[[#@LINE + 10]]{{$}}
// CHECK-DAG: mostly top-via.cpp:[[#@LINE + 14]] via std::vector

#include <string>
#include <vector>

static std::vector<char> *kept;
static std::string *text;

__attribute__((noinline)) static void mixed() {
  kept = new std::vector<char>(600000);
  text = new std::string(400000, 'x');
}

__attribute__((noinline)) static void mostly() {
  kept = new std::vector<char>(800000);
  text = new std::string(200000, 'x');
}

int main() {
  mixed();
  mostly();
  return kept == nullptr || text == nullptr;
}
