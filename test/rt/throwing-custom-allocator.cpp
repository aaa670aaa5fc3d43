// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a custom allocator that throws or returns NULL does not affect how
// later allocations are counted.
//
// RUN: %mprof_clangxx -fmprof -O1 -std=c++17 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t 1
// RUN: %run_quiet{seed=4} %t 0

#include "records.h"

#include <cstdint>
#include <initializer_list>
#include <new>

static void *volatile sink;
static volatile bool fails;

__attribute__((mprof_alloc(1), noinline)) static void *get(std::size_t n) {
  if (fails)
    throw std::bad_alloc();
  return std::malloc(n);
}
__attribute__((mprof_free(1), noinline)) static void put(void *p) {
  std::free(p);
}
__attribute__((mprof_realloc(1, 2), noinline)) static void *
more(void *p, std::size_t n) {
  if (fails)
    throw std::bad_alloc();
  return std::realloc(p, n);
}

int main(int argc, char **argv) {
  bool is_exact = argv[argc - 1][0] == '1';
  for (std::size_t n : {std::size_t(100), std::size_t(1) << 32, SIZE_MAX}) {
    void *p = get(10);
    fails = true;
    try {
      sink = get(n);
    } catch (const std::bad_alloc &) {
    }
    try {
      sink = more(p, n);
    } catch (const std::bad_alloc &) {
    }
    fails = false;
    put(p);
    struct counted before = counted_of(2000);
    for (int i = 0; i < 20000; i++)
      std::free(sink = std::malloc(2000));
    unsigned long long counted = counted_of(2000).allocs - before.allocs;
    // 20000 * 2000 / 512 KiB = 76 are expected, with a standard deviation of
    // 8.7.
    CHECK(is_exact ? counted == 20000 : counted > 76 - 45 && counted < 76 + 45);
  }
  return 0;
}
