// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with -fmprof-nested=outermost, allocations inside a custom allocator
// are not counted. If an exception or longjmp leaves the allocator, later
// allocations are counted again. This holds whichever function called the
// allocator, wherever the program goes on, and also in files compiled without
// the flag.
//
// RUN: rm -rf %t.dir && split-file %s %t.dir && cd %t.dir
// RUN: for flags in -O0 "-O2 -g"; do \
// RUN:   %mprof_clangxx -fmprof $flags -c others.cpp || exit 1; \
// RUN:   %mprof_clangxx -fmprof -fmprof-nested=outermost $flags \
// RUN:     -I%src/test/Inputs calls.cpp others.o -o app || exit 1; \
// RUN:   %run_quiet{heap_rate=1} ./app || exit 1; done

//--- common.h
#include <csetjmp>
#include <cstdlib>
#include <initializer_list>
#include <new>

extern std::jmp_buf back;
void call_it(bool again); // leaves by an exception or by longjmp

static void *volatile sink;

__attribute__((noinline)) static void count(std::size_t n) {
  std::free(sink = std::malloc(n));
}
// Allocates from further down the stack than the allocator was called from.
__attribute__((noinline)) static void count_deep(std::size_t n, int depth) {
  volatile char room[200];
  room[0] = 0;
  if (depth > 0)
    count_deep(n, depth - 1);
  else
    count(n);
  room[1] = 0;
}

// Counts five blocks.
template <typename F> static void thrown(std::size_t size, F f) {
  for (bool again : {false, true}) {
    try {
      f(again);
    } catch (const std::bad_alloc &) {
      count_deep(size, 20);
    }
    count_deep(size, 20);
  }
  count(size);
}
// Counts four blocks.
template <typename F> static void jumped(std::size_t size, F f) {
  for (volatile bool again : {false, true}) {
    if (setjmp(back) == 0)
      f(again);
    count_deep(size, 20);
    count(size);
  }
}

//--- others.cpp
#include "common.h"

void throw_over(std::size_t size) { thrown(size, call_it); }
void jump_over(std::size_t size) { jumped(size, call_it); }

//--- calls.cpp
#include "common.h"
#include "records.h"

std::jmp_buf back;
void throw_over(std::size_t size);
void jump_over(std::size_t size);

static bool jumps;

__attribute__((noinline)) static void *leave(std::size_t n) {
  sink = std::malloc(n);
  std::free(sink);
  if (jumps)
    std::longjmp(back, 1);
  throw std::bad_alloc();
}
__attribute__((mprof_alloc(1), noinline)) static void *get(std::size_t n) {
  return leave(n);
}
__attribute__((mprof_realloc(1, 2), noinline)) static void *
more(void *, std::size_t n) {
  return leave(n);
}

// Inlined, so that its frame is that of the caller.
__attribute__((always_inline)) static inline void call_inline(bool again) {
  sink = again ? more(sink, 111) : get(111);
}
__attribute__((noinline)) void call_it(bool again) { call_inline(again); }

int main() {
  thrown(1001, call_it);
  thrown(1002, [](bool again) { call_inline(again); });
  throw_over(1003);
  for (std::size_t size : {1001, 1002, 1003})
    CHECK(counted_of(size).allocs == 5);
  jumps = true;
  jumped(1004, call_it);
  jumped(1005, [](bool again) { call_inline(again); });
  jump_over(1006);
  for (std::size_t size : {1004, 1005, 1006})
    CHECK(counted_of(size).allocs == 4);
  EXPECT(111, 0, 0, 0);
  return 0;
}
