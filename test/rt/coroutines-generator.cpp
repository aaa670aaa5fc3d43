// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack of a generator has the function that asks for the next
// value, and no other. The promise of a generator has no handle of an awaiting
// coroutine. An exception that leaves the generator does not disturb MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -O0 -O2; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -g1 $flags \
// RUN:     -I%src/test/Inputs %coroutine_copy %s -o app && rm -f out.* && \
// RUN:   %run{heap_rate=1:coroutines=1:log_path=out.%%p} ./app && \
// RUN:   FileCheck %s < out.*.txt || exit 1; done
// CHECK-LABEL: allocated
// CHECK: (7,010 bytes) in 10 blocks
// CHECK-NEXT: in numbers
// CHECK-NOT: in numbers
// CHECK: in consume
// CHECK-NEXT: in main

#include "records.h"

#include <coroutine>
#include <stdexcept>

static void *volatile sink;

struct generator {
  struct promise_type {
    const int *value = nullptr;
    generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const int &v) {
      value = &v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

__attribute__((noinline)) static generator numbers(int n) {
  for (int i = 0; i < n; i++) {
    sink = malloc(701);
    free(sink);
    co_yield i;
  }
  throw std::runtime_error("no more");
}

__attribute__((noinline)) static int consume(generator g) {
  int sum = 0;
  try {
    while (!g.handle.done()) {
      g.handle.resume();
      sum += *g.handle.promise().value;
    }
  } catch (const std::runtime_error &) {
    sum += 100;
  }
  g.handle.destroy();
  return sum;
}

int main() {
  CHECK_EQ(consume(numbers(10)), 145);
  EXPECT(701, 1, 10, 10);
  return 0;
}
