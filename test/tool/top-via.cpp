// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof top names the library function that a function has called, if
// most of the function's value comes from it. A row with several causes names
// none. The name is the short one, although the program calls two overloads.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:log_path=p} ./app
// RUN: %mprof top p.*.heap.pb.gz | FileCheck %s
// RUN: %mprof top p.*.heap.pb.gz | FileCheck %s --check-prefix=ADDS
// RUN: %mprof traces p.*.heap.pb.gz | FileCheck %s --check-prefix=ADDS
// RUN: %run{heap_rate=1:log_path=before} ./app nothing
// RUN: %mprof diff before.*.heap.pb.gz p.*.heap.pb.gz | FileCheck %s --check-prefix=ADDS
// RUN: %mprof top --format=json p.*.heap.pb.gz | grep '"function": "adds_before".*"via": "std::operator+"'
// RUN: %mprof top --full-names p.*.heap.pb.gz | grep 'adds_before.* via .*operator+<char, '
// ADDS-DAG: adds_before{{.*}} top-via.cpp:{{[0-9]+}} via std::operator+{{$}}
// ADDS-DAG: adds_behind{{.*}} top-via.cpp:{{[0-9]+}} via std::operator+{{$}}
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

static const std::string &letters = *new std::string(300, 'y');
static std::string &before = *new std::string, &behind = *new std::string;

__attribute__((noinline)) static void adds_before() { before = "x" + letters; }

__attribute__((noinline)) static void adds_behind() {
  behind = letters + letters;
}

int main(int argc, char **) {
  if (argc > 1)
    return 0;
  mixed();
  mostly();
  adds_before();
  adds_behind();
  return kept == nullptr || text == nullptr;
}
