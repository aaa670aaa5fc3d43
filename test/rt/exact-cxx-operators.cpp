// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 all replaceable forms of operator new and delete are
// counted exactly, at -O0 and -O2. Each call site has one bucket (a counter for
// a stack and size), which all threads share. If operator new throws bad_alloc,
// the program can catch the exception.
//
// RUN: %mprof_clangxx -fmprof -std=c++17 -fsized-deallocation -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t
// RUN: %mprof_clangxx -fmprof -std=c++17 -fsized-deallocation -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t

#include "records.h"

#include <new>
#include <thread>
#include <vector>

static thread_local void *volatile sink;
using A = std::align_val_t;
static const auto &NT = std::nothrow;

// 3 blocks of a size used nowhere else, of which 2 are deleted by the matching
// form of delete.
#define SITE(Name, Size, New, Delete)                                          \
  __attribute__((noinline)) static void Name() {                               \
    const std::size_t n = Size;                                                \
    for (volatile int i = 0; i < 3; i = i + 1) {                               \
      void *p = New;                                                           \
      sink = p;                                                                \
      p = sink;                                                                \
      if (i < 2)                                                               \
        Delete;                                                                \
    }                                                                          \
  }

SITE(s1, 101, operator new(n), operator delete(p))
SITE(s2, 103, operator new(n), operator delete(p, n))
SITE(s3, 105, operator new(n, NT), operator delete(p, NT))
SITE(s4, 128, operator new(n, A(64)), operator delete(p, A(64)))
SITE(s5, 192, operator new(n, A(64)), operator delete(p, n, A(64)))
SITE(s6, 256, operator new(n, A(64), NT), operator delete(p, A(64), NT))
SITE(s7, 107, operator new[](n), operator delete[](p))
SITE(s8, 109, operator new[](n), operator delete[](p, n))
SITE(s9, 111, operator new[](n, NT), operator delete[](p, NT))
SITE(s10, 320, operator new[](n, A(64)), operator delete[](p, A(64)))
SITE(s11, 384, operator new[](n, A(64)), operator delete[](p, n, A(64)))
SITE(s12, 448, operator new[](n, A(64), NT), operator delete[](p, A(64), NT))

struct Big {
  char c[777];
};
__attribute__((noinline)) static void expressions() {
  Big *b = new Big;
  sink = b;
  delete static_cast<Big *>(sink);
  std::vector<char> v;
  v.reserve(888);
  sink = v.data();
}

static void work() {
  for (int i = 0; i < 50; i++) {
    s1(), s2(), s3(), s4(), s5(), s6();
    s7(), s8(), s9(), s10(), s11(), s12();
    expressions();
    delete static_cast<Big *>(nullptr);
    try {
      sink = operator new(static_cast<std::size_t>(PTRDIFF_MAX));
      CHECK(!"bad_alloc expected");
    } catch (const std::bad_alloc &) {
    }
    sink = operator new(static_cast<std::size_t>(PTRDIFF_MAX), NT);
    CHECK(sink == nullptr);
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back(work);
  for (auto &t : threads)
    t.join();
  const unsigned long long n = 4 * 50;
  for (std::size_t size :
       {101, 103, 105, 128, 192, 256, 107, 109, 111, 320, 384, 448})
    EXPECT(size, 1, 3 * n, 2 * n);
  EXPECT(777, 1, n, n);
  EXPECT(888, 1, n, n);
  EXPECT(PTRDIFF_MAX, 0, 0, 0);
  return 0;
}
