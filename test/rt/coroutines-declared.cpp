// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a promise has several handles, the one with the type
// mprof::continuation is the handle of the awaiting coroutine. Without this
// declaration, MProf does not guess, and shows only the running coroutine.
//
// clang 16 inlines leaf into root, and its frame then shows both.
// UNSUPPORTED: clang-16
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for type in DECLARED PLAIN; do \
// RUN:   %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -O2 -g1 -D$type \
// RUN:     -I%src/test/Inputs %coroutine_copy %s -o $type && \
// RUN:   %run{heap_rate=1:coroutines=1:log_path=$type.%%p} ./$type && \
// RUN:   FileCheck --check-prefixes=BOTH,$type %s < $type.*.txt || exit 1; done
// BOTH-LABEL: allocated
// BOTH: (7,010 bytes) in 10 blocks
// BOTH-NEXT: in leaf
// DECLARED-NEXT: in root
// PLAIN-NOT: in root
// BOTH: in main

#include "records.h"

#include <exception>
#include <mprof/coroutine.h>

#if defined(DECLARED)
using continuation = mprof::continuation;
#else
using continuation = std::coroutine_handle<>;
#endif

static void *volatile sink;

struct job {
  struct promise_type {
    std::coroutine_handle<> self;
    char other[40];
    struct {
      long unused;
      continuation awaiting;
    } links;
    job get_return_object() {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      self = h;
      return {h};
    }
    std::suspend_always initial_suspend() { return {}; }
    struct last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<>
      await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        std::coroutine_handle<> next = h.promise().links.awaiting;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    last final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().links.awaiting = h;
    return handle;
  }
  void await_resume() { handle.destroy(); }
};

static job leaf() {
  sink = malloc(701);
  free(sink);
  co_return;
}

static job root() {
  for (int i = 0; i < 10; i++)
    co_await leaf();
}

int main() {
  job j = root();
  j.handle.resume();
  CHECK(j.handle.done());
  j.handle.destroy();
  EXPECT(701, 1, 10, 10);
  return 0;
}
