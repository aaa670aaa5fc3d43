// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a name in which the demangler writes "<...>" for an empty list of
// template arguments, as for the nodes of std::map, does not count as a name
// that was shortened.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O2 -g1 %s -o app
// RUN: %run{heap_rate=1:symbolizer_cache=0:log_path=x} ./app > out 2>&1
// RUN: not grep incomplete out
// RUN: %mprof top --sample=alloc_space --std --full-names -n 0 x.*.heap.pb.gz > top 2>&1
// RUN: grep -F '<...>' top && not grep lost: top
// RUN: %mprof doctor . | FileCheck %s
// CHECK: heap.pb.gz:
// CHECK: nothing was lost or truncated

#include <map>
#include <string>

std::map<std::string, int> numbers;

int main() {
  for (int i = 0; i < 10; i++) {
    std::string key(40, (char)('a' + i));
    numbers[key]++;
  }
  return numbers.size() == 3;
}
