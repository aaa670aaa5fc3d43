// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with -fmprof-coroutines and coroutines=1, a stack continues from a
// running coroutine into the coroutines that await it, at the lines where they
// await, and then into the event loop. This does not depend on optimization, on
// the way of unwinding, or on the C++ library.
//
// With clang 22, the plugin does not prepare coroutines with -flto.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -O0 -O1 -O2 "-O2 -fmprof-unwind=frames" "-O1 -g" \
// RUN:     %if emulated %{%} %else %{ "-O2 -stdlib=libc++" %} \
// RUN:     "-O2 -fno-pie -no-pie" \
// RUN:     %if clang-22 %{%} %else %{ "-O2 -flto=thin -fuse-ld=lld" %} ; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -g1 $flags \
// RUN:     -I%src/test/Inputs %coroutine_copy %s -o app && rm -f out.* && \
// RUN:   %run{heap_rate=1:coroutines=1:log_path=out.%%p} ./app && \
// RUN:   FileCheck %s < out.*.txt || { echo "with $flags"; exit 1; }; done

#include "records.h"
#include "task.h"

static void *volatile sink;

// CHECK-LABEL: allocated
// CHECK: (7,010 bytes) in 10 blocks
// CHECK-NEXT: in leaf{{.*}}:[[#@LINE + 9]]
// CHECK-NEXT: in middle{{.*}}:[[#@LINE + 15]]
// CHECK-NEXT: in root{{.*}}:[[#@LINE + 22]]
// CHECK-NOT: in leaf
// CHECK-NOT: in middle
// CHECK-NOT: in root
// CHECK: in event_loop
// CHECK-NEXT: in main
static task leaf(int n) {
  sink = malloc(701);
  free(sink);
  co_await next_round();
  co_return n;
}

static task middle(int n) {
  const int first = co_await leaf(n);
  co_await next_round();
  co_return first;
}

static task root() {
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += co_await middle(i);
  co_return sum;
}

int main() {
  CHECK_EQ(event_loop(root()), 45);
  EXPECT(701, 1, 10, 10);
  return 0;
}
