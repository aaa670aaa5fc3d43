// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a coroutine that awaits another may be on the stack itself, because
// it has called resume() in await_suspend, or because it is in the part that
// runs before its first suspension. Profiles then show this coroutine once.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in -O1 -O2; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -g1 $flags \
// RUN:     -I%src/test/Inputs %coroutine_copy %s -o app && rm -f out.* && \
// RUN:   %run{heap_rate=1:coroutines=1:report_std=1:log_path=out.%%p} ./app && \
// RUN:   sed '/bytes allocated/,/in main/!d' out.*.txt > stack && \
// RUN:   FileCheck %s < stack || exit 1; done
// CHECK: (7,010 bytes) in 10 blocks
// CHECK-NEXT: in leaf
// CHECK: in {{.*}}await_suspend
// CHECK: in middle
// CHECK: in {{.*}}await_suspend
// CHECK: in root
// CHECK: in main
// Clang makes a function of each call of await_suspend, with the name of the
// coroutine. It is inlined, so it has the same address.
// RUN: grep -o "0x.* in \(leaf\|middle\|root\)" stack | sort -u | grep -c . | grep -x 3

#include "records.h"

#include <coroutine>
#include <exception>

static void *volatile sink;

// Starts at once if Lazy is false.
template <bool Lazy> struct job {
  struct promise_type {
    std::coroutine_handle<> continuation;
    struct start {
      bool await_ready() noexcept { return !Lazy; }
      void await_suspend(std::coroutine_handle<>) noexcept {}
      void await_resume() noexcept {}
    };
    job get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    start initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return handle.done(); }
  // Returns whether the awaiting coroutine must wait.
  __attribute__((noinline)) bool await_suspend(std::coroutine_handle<> h) {
    handle.promise().continuation = h;
    handle.resume();
    return !handle.done();
  }
  void await_resume() { handle.destroy(); }
};

static job<true> leaf() {
  sink = malloc(701);
  free(sink);
  co_return;
}

static job<true> middle() {
  for (int i = 0; i < 10; i++)
    co_await leaf();
}

__attribute__((noinline)) static job<false> root() { co_await middle(); }

int main() {
  job<false> j = root();
  CHECK(j.handle.done());
  j.handle.destroy();
  EXPECT(701, 1, 10, 10);
  return 0;
}
