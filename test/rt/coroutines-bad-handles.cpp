// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a promise may have the handle of a coroutine that no longer exists,
// or a handle of no coroutine at all, or handles that form a cycle. MProf does
// not crash, and shows only coroutines that exist.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -O2 -g1 -I%src/test/Inputs %coroutine_copy %s -o app
// RUN: %run_quiet{heap_rate=1:coroutines=1} ./app

#include "records.h"

#include <coroutine>
#include <exception>
#include <string>
#include <sys/mman.h>

static void *volatile sink;

// Never resumes the coroutine that awaits it.
struct job {
  struct promise_type {
    std::coroutine_handle<> continuation;
    job get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

static job leaf(size_t size) {
  for (;;) {
    sink = malloc(size);
    free(sink);
    co_await std::suspend_always();
  }
}

__attribute__((noinline)) static job waiting() {
  co_await std::suspend_always();
}

struct object {
  virtual ~object() = default;
  long words[20] = {};
};

// Runs a round of leaf with this address as the handle that awaits it.
__attribute__((noinline)) static void run(job j, const void *address) {
  j.handle.promise().continuation =
      std::coroutine_handle<>::from_address(const_cast<void *>(address));
  j.handle.resume();
}

int main() {
  enum { BAD = 701, GOOD, CYCLE, SELF, ENDED };
  enum { PAGE = 4096 };
  char *map =
      static_cast<char *>(mmap(nullptr, 3 * PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  NEED(map != MAP_FAILED && munmap(map + PAGE, 2 * PAGE) == 0);
  const job destroyed = waiting();
  destroyed.handle.destroy();
  const object has_vtable;
  const std::string text(1000, 'x');
  long words[20] = {};
  std::coroutine_handle<> noop = std::noop_coroutine();

  const void *bad[] = {nullptr,
                       reinterpret_cast<void *>(1),
                       reinterpret_cast<void *>(~0xffful), // not a user address
                       reinterpret_cast<void *>(1ul << 63), // not canonical
                       map,
                       map + PAGE,
                       map + PAGE - 8, // the second word is unmapped
                       map + PAGE - 16,
                       &has_vtable,
                       text.data(),
                       text.data() + 1,
                       words,
                       &words,
                       reinterpret_cast<void *>(main),
                       stdout,
                       destroyed.handle.address(),
                       noop.address()};
  job j = leaf(BAD);
#pragma clang loop unroll(disable)
  for (const void *address : bad)
    run(j, address);
  EXPECT(BAD, 1, std::size(bad), std::size(bad));

  // A coroutine that has not started is suspended at its beginning.
  job other = waiting();
  j = leaf(GOOD);
  run(j, other.handle.address());
  CHECK_EQ(counted_of(GOOD).min_depth, counted_of(BAD).min_depth + 1);

  job a = waiting(), b = waiting();
  a.handle.promise().continuation = b.handle;
  b.handle.promise().continuation = a.handle;
  j = leaf(CYCLE);
  run(j, a.handle.address());
  CHECK(counted_of(CYCLE).min_depth >= counted_of(BAD).min_depth + 2);
  CHECK(counted_of(CYCLE).max_depth <= counted_of(BAD).min_depth + 4);

  j = leaf(SELF);
  run(j, j.handle.address());
  CHECK_EQ(counted_of(SELF).min_depth, counted_of(BAD).min_depth);

  other.handle.resume();
  other.handle.resume();
  CHECK(other.handle.done());
  j = leaf(ENDED);
  run(j, other.handle.address());
  CHECK_EQ(counted_of(ENDED).min_depth, counted_of(BAD).min_depth);
  return 0;
}
