// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without coroutines=1, and without -fmprof-coroutines, a stack has
// only the functions that are on the stack of the thread: the running coroutine
// and the event loop.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -std=c++20 -O2 -g1 -I%src/test/Inputs %s -o plain
// RUN: %mprof_clangxx -fmprof -fmprof-coroutines -fno-mprof-coroutines -std=c++20 -O2 -g1 \
// RUN:   -I%src/test/Inputs %s -o taken-back
// RUN: cmp plain taken-back
// RUN: %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:coroutines=1:log_path=plain.%%p} ./plain
// RUN: FileCheck %s < plain.*.txt
// RUN: %run{heap_rate=1:log_path=app.%%p} ./app
// RUN: FileCheck %s < app.*.txt
// CHECK-LABEL: allocated
// CHECK: (7,010 bytes) in 10 blocks
// CHECK-NEXT: in leaf
// CHECK-NOT: in root
// CHECK: in event_loop
// CHECK-NEXT: in main

#include "records.h"
#include "task.h"

static void *volatile sink;

static task leaf() {
  co_await next_round();
  sink = malloc(701);
  free(sink);
  co_return 0;
}

static task root() {
  for (int i = 0; i < 10; i++)
    co_await leaf();
  co_return 0;
}

int main() {
  event_loop(root());
  EXPECT(701, 1, 10, 10);
  return 0;
}
