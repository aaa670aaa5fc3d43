// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the same coroutine, resumed by the same event loop, is counted once
// for each coroutine that awaits it. MProf recognizes a repeated stack by its
// return addresses, which are the same here.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -O2 "-O2 -fmprof-unwind=frames"; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -g1 $flags \
// RUN:     -I%src/test/Inputs %coroutine_copy %s -o app && \
// RUN:   %run_quiet{heap_rate=1:coroutines=1} ./app || exit 1; done

#include "records.h"
#include "task.h"

static void *volatile sink;

static task leaf() {
  co_await next_round();
  sink = malloc(701);
  free(sink);
  co_return 0;
}

static task first() { co_return co_await leaf(); }
static task second() { co_return co_await leaf(); }

// Awaits nothing, so it may have its stack recognized.
static task alone() {
  co_await next_round();
  sink = malloc(702);
  free(sink);
  co_return 0;
}

int main() {
  for (int i = 0; i < 100; i++) {
    event_loop(first());
    event_loop(second());
    event_loop(leaf());
    event_loop(alone());
  }
  EXPECT(701, 3, 300, 300);
  EXPECT(702, 1, 100, 100);
  return 0;
}
