// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the lists of mprof log shorten names and hide library functions as
// mprof traces does, and have the options --focus, --ignore, --count, --std and
// --full-names. The headings count only what is selected, and name the whole.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g -fno-inline-functions %s -o app
// RUN: env MPROF_OPTIONS=heap_rate=1:alloc_log=log:profile=0:report=0 ./app
// RUN: %mprof log log > out && FileCheck %s < out
// RUN: awk 'length > 100 { exit 1 }' out
// CHECK: Live: 2 blocks, {{[0-9]+}} bytes{{$}}
// CHECK: #0 {{fill|main}}  log-short-names.cpp:{{[0-9]+}}  via std::map::operator[]
// CHECK: #0 keep  log-short-names.cpp:
// RUN: %mprof log --focus='^keep' log | FileCheck %s --check-prefix=FOCUS
// RUN: %mprof log --ignore=map log | FileCheck %s --check-prefix=FOCUS
// RUN: %mprof log --count=1 --focus='^keep' log \
// RUN:   | FileCheck %s --check-prefix=FOCUS
// FOCUS: Live: 1 block of 2, 10 bytes of {{[0-9]+}}{{$}}
// FOCUS-NOT: map
// FOCUS: #0 keep
// FOCUS-NOT: map
// RUN: %mprof log --count=1 log | grep -c '^  1 block,' | grep -x 1
// RUN: %mprof log --std log | grep '#1 std::_Rb_tree::'
// RUN: %mprof log --full-names --std log | grep 'std::_Rb_tree<'
// RUN: not %mprof log --focus='(' log 2>&1 | grep '^mprof log: '

#include <cstdlib>
#include <map>

static std::map<int, int[20]> *volatile map;
static void *volatile kept;
alignas(std::map<int, int[20]>) static char space[sizeof(*map)];

__attribute__((noinline)) static void fill() { (*map)[1][0] = 2; }
__attribute__((noinline)) static void keep() { kept = malloc(10); }

int main() {
  map = new (space) std::map<int, int[20]>;
  fill();
  keep();
  return 0;
}
