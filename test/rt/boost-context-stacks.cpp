// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: stacks of Boost.Context are stacks like any other: an allocation in a
// fiber has all frames from the leaf to the fiber's first function, with frame
// pointers and with unwind tables, and MProf does not report the stack as cut.
//
// REQUIRES: boost
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -std=c++17 -O1 -g1 -I%src/test/Inputs %s -lboost_context -o cfi
// RUN: %mprof_clangxx -fmprof -std=c++17 -O1 -g1 -fno-omit-frame-pointer \
// RUN:   -I%src/test/Inputs %s -lboost_context -o fp
// RUN: for app in cfi fp; do \
// RUN:   %run{heap_rate=1:log_path=$app.%%p} ./$app && \
// RUN:   FileCheck %s < $app.*.txt && ! grep -q -i 'truncated\|without frame' $app.*.txt \
// RUN:   || exit 1; done
// CHECK-LABEL: allocated
// CHECK: in 20 blocks
// CHECK-NEXT: in leaf
// CHECK-NEXT: in middle
// CHECK-NEXT: in body

#include "records.h"

#include <boost/context/fiber.hpp>
#include <cstdlib>

namespace ctx = boost::context;

static void *volatile sink;

__attribute__((noinline)) static void leaf() {
  sink = malloc(701);
  free(sink);
}

__attribute__((noinline)) static void middle() {
  leaf();
  asm volatile(""); // no tail call
}

__attribute__((noinline)) static ctx::fiber body(ctx::fiber &&back) {
  for (int i = 0; i < 10; i++) {
    middle();
    back = std::move(back).resume();
  }
  return std::move(back);
}

int main() {
  ctx::fiber a(body), b(body);
  while (a || b) {
    if (a)
      a = std::move(a).resume();
    if (b)
      b = std::move(b).resume();
  }
  EXPECT(701, 1, 20, 20);
  return 0;
}
