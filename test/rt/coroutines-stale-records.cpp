// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack memory of a coroutine that has been suspended is used again
// by another function, which does not overwrite it. MProf does not take this
// function for the coroutine.
//
// On arm64 with -O2, the two functions have different frame pointers.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -O1 %if aarch64 %{%} %else %{ -O2 %} ; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -g1 $flags \
// RUN:     -fno-omit-frame-pointer -I%src/test/Inputs %coroutine_copy %s -o app && rm -f out.* && \
// RUN:   %run{heap_rate=1:coroutines=1:log_path=out.%%p} ./app && \
// RUN:   FileCheck %s < out.*.txt || exit 1; done
// CHECK-LABEL: allocated
// CHECK: . 702 bytes in 1 block
// CHECK-NEXT: in ordinary
// CHECK-NEXT: in call
// CHECK-NEXT: in main
// CHECK: . 701 bytes in 1 block
// CHECK-NEXT: in leaf
// CHECK-NEXT: in root

#include "records.h"
#include "task.h"

#include <iterator>
#include <string.h>

static void *volatile sink;

static task leaf() {
  co_await next_round();
  sink = malloc(701);
  free(sink);
  co_await next_round();
  co_return 0;
}

static task root() { co_return co_await leaf(); }

__attribute__((noinline)) static void call(void (*f)(void *), void *argument) {
  f(argument);
  asm volatile(""); // no tail call
}

// Has the stack memory of the function that was called last.
__attribute__((noinline)) static void ordinary(void *coroutine) {
  void *area[1000];
  asm volatile("" : : "r"(area) : "memory");
  const void *frame = __builtin_frame_address(0);
  bool has_record = false;
  for (size_t i = 0; i + 1 < std::size(area); i++)
    has_record |= area[i] == frame && area[i + 1] == coroutine;
  CHECK(has_record);
  sink = malloc(702);
  free(sink);
}

int main() {
  task t = root();
  t.handle.resume();
  void *frame = in_loop.address(); // leaf, which awaits the next round
  void (*resume)(void *);
  memcpy(&resume, frame, sizeof(resume));
  call(resume, frame);
  call(ordinary, frame);
  return 0;
}
