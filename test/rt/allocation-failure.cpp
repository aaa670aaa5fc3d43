// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an allocation fails just as it does without MProf. Functions of C
// return NULL and set ENOMEM, posix_memalign returns its error, and operator
// new throws bad_alloc. The new_handler is called as often as without MProf.
// The test requests impossible sizes, and possible sizes when a memory limit is
// reached. A failed realloc leaves the old block untouched. Failed allocations
// are not counted, but later allocations are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -fno-builtin -O1 -std=c++17 %s -o plain
// RUN: (ulimit -v 400000; ./plain > expected)
// RUN: grep -q "^new_handler: 3 calls, bad_alloc" expected
// RUN: grep -q "^filled" expected
// RUN: for flags in "" -fmprof-intercept; do \
// RUN:   %mprof_clangxx -fmprof $flags -fno-builtin -O1 -std=c++17 -DWITH_MPROF \
// RUN:     -I%src/test/Inputs %s -o app || exit 1; \
// RUN:   for mode in heap_rate=1 seed=3 seed=4:max_memory_mb=64; do \
// RUN:     (ulimit -v 400000; %run_quiet{$mode} ./app > out) || exit 1; \
// RUN:     echo "$flags $mode" && diff expected out || exit 1; \
// RUN:   done; \
// RUN: done

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>

#ifdef WITH_MPROF
#include "records.h"
#endif

static const std::size_t huge[] = {std::size_t(1) << 46, PTRDIFF_MAX - 4096,
                                   SIZE_MAX - 100, SIZE_MAX};
static void *volatile sink;
static int handler_calls;
static char untouched[8];

static void show(const char *what, std::size_t i, void *p) {
  std::printf("%s %zu: %s, %s\n", what, i, p ? "a block" : "NULL",
              errno == ENOMEM ? "ENOMEM"
              : errno == 0    ? "no error"
                              : "another error");
  errno = 0;
}

template <typename F> static void show_new(const char *what, F f) {
  handler_calls = 0;
  bool threw = false;
  sink = nullptr;
  try {
    sink = f();
  } catch (const std::bad_alloc &) {
    threw = true;
  }
  std::printf("%s: %d calls, %s\n", what, handler_calls,
              threw  ? "bad_alloc"
              : sink ? "a block"
                     : "nullptr");
}

// Gives up at the third call.
static void handler() {
  if (++handler_calls % 3 == 0)
    std::set_new_handler(nullptr);
}

static void c_functions() {
  errno = 0;
  for (std::size_t i = 0; i < 4; i++) {
    volatile std::size_t n = huge[i];
    show("malloc", i, sink = std::malloc(n));
    show("calloc", i, sink = std::calloc(n / 2, 3));
    show("calloc 1", i, sink = std::calloc(1, n));
    char *p = static_cast<char *>(std::malloc(100));
    std::strcpy(p, "text");
    show("realloc", i, sink = std::realloc(p, n));
    show("reallocarray", i, sink = reallocarray(p, n, 2));
    std::printf("kept: %s\n", p);
    std::free(p);
    show("aligned_alloc", i, sink = std::aligned_alloc(64, n));
    show("memalign", i, sink = memalign(8192, n));
    void *out = untouched;
    int error = posix_memalign(&out, 64, n);
    std::printf("posix_memalign %zu: %d, %s\n", i, error,
                out == untouched ? "out untouched" : "out changed");
    errno = 0;
  }
  void *out = untouched;
  std::printf("posix_memalign: %d %d\n", posix_memalign(&out, 24, 8) == EINVAL,
              out == untouched);
}

static void operators() {
  for (std::size_t i = 0; i < 4; i++) {
    volatile std::size_t n = huge[i];
    show_new("new", [&] { return operator new(n); });
    show_new("new[]", [&] { return operator new[](n); });
    show_new("nothrow", [&] { return operator new(n, std::nothrow); });
    if (i < 2) // libstdc++ rounds larger sizes up to 0
      show_new("aligned",
               [&] { return operator new(n, std::align_val_t(64)); });
    std::set_new_handler(handler);
    show_new("new_handler", [&] { return operator new(n); });
    std::set_new_handler(handler);
    show_new("new_handler nothrow",
             [&] { return operator new[](n, std::nothrow); });
    if (i >= 2)
      continue;
    std::set_new_handler(handler);
    show_new("new_handler aligned",
             [&] { return operator new(n, std::align_val_t(4096)); });
  }
}

static void alignments() {
  for (std::size_t align : {0, 3, 24, 1, 8192}) {
    show_new("alignment",
             [&] { return operator new(32 << 20, std::align_val_t(align)); });
    operator delete(sink);
  }
}

// Takes all memory in blocks of 100 KiB, after a first block of 3 MiB.
static void *first;
static void release() {
  handler_calls++;
  std::free(first);
  first = nullptr;
  std::set_new_handler(nullptr);
}
static void fill() {
  struct link {
    link *next;
  } *all = nullptr;
  std::size_t n = 0;
  first = std::malloc(3 << 20);
  for (void *p; (p = std::malloc(100 << 10)); n++)
    all = new (p) link{all};
  std::printf("filled: %s\n", n > 2000 && errno == ENOMEM ? "ENOMEM" : "no");
  std::set_new_handler(release);
  show_new("new when filled", [] { return operator new(2 << 20); });
  operator delete(sink);
  while (all) {
    link *next = all->next;
    std::free(all);
    all = next;
  }
}

// Operator new can get a block as large as any that malloc can get.
static void largest() {
  std::size_t fits = 0, fails = std::size_t(400000) << 10;
  while (fails - fits > 1) {
    std::size_t n = fits + (fails - fits) / 2;
    void *p = std::malloc(n);
    (p ? fits : fails) = n;
    std::free(p);
  }
  for (int i = 0; i < 3; i++) {
    std::set_new_handler(handler);
    show_new("largest new", [&] {
      return i == 0   ? operator new(fits)
             : i == 1 ? operator new[](fits, std::nothrow)
                      : operator new(fits, std::align_val_t(8));
    });
    operator delete(sink);
  }
}

static void fail() {
  c_functions();
  operators();
  alignments();
  fill();
  largest();
}

static __attribute__((noinline)) void allocate(int rounds) {
  for (int i = 0; i < rounds; i++) {
    std::free(sink = std::malloc(5000));
    operator delete(sink = operator new(5001));
  }
}

int main() {
  // The profiler's tables may be full after fail(), which fills the memory. So
  // the stacks of the later blocks are recorded before.
  for (int rounds : {1, 19999}) {
    if (rounds > 1)
      fail();
    allocate(rounds);
  }
#ifdef WITH_MPROF
  for (std::size_t n : huge)
    EXPECT(n, 0, 0, 0);
  bool is_exact = mprof_set_heap_rate(0) == 1;
  for (std::size_t size : {5000, 5001}) {
    counted c = counted_of(size);
    // 20000 * 5000 / 512 KiB = 191 are expected, with a standard deviation of
    // 14.
    CHECK(is_exact ? c.allocs == 20000
                   : c.allocs > 191 - 70 && c.allocs < 191 + 70);
    CHECK(c.allocs == c.frees);
  }
  counted blocks = counted_of(100 << 10);
  CHECK(blocks.allocs > 0 && blocks.allocs == blocks.frees);
#endif
  return 0;
}
