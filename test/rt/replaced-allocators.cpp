// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program with its own operator new and malloc, counted blocks
// come from these functions and go back to them. This also holds in sampled
// mode, in which the program's functions must never get an aligned block of
// libc.
//
// RUN: %mprof_clangxx -fmprof -O1 -DOWN_NEW -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=3} %t
// RUN: %run_quiet{heap_rate=1} %t
// RUN: %mprof_clangxx -fmprof -O1 -DOWN_MALLOC -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=3} %t
// RUN: %run_quiet{heap_rate=1} %t

#include "records.h"

#include <cstring>
#include <new>

alignas(16) static char heap[64 << 20];
static std::size_t used;
static long live;

// Blocks have a header, so that a foreign block is noticed at once.
static void *pool_take(std::size_t n) {
  std::size_t at = used;
  used += (n + 31) / 16 * 16;
  if (used > sizeof(heap))
    return nullptr;
  std::memcpy(heap + at, "mypool!", 8);
  std::memcpy(heap + at + 8, &n, 8);
  live++;
  return heap + at + 16;
}
static void pool_give(void *p) {
  if (!p)
    return;
  if (static_cast<char *>(p) < heap || static_cast<char *>(p) >= heap + used ||
      std::memcmp(static_cast<char *>(p) - 16, "mypool!", 8) != 0)
    __builtin_trap();
  live--;
}

#ifdef OWN_NEW
void *operator new(std::size_t n) { return pool_take(n); }
void operator delete(void *p) noexcept { pool_give(p); }
void operator delete(void *p, std::size_t) noexcept { pool_give(p); }
#define TAKE(n) operator new(n)
#define GIVE(p) operator delete(p)
#else
extern "C" void *malloc(std::size_t n) { return pool_take(n); }
extern "C" void *calloc(std::size_t n, std::size_t m) {
  return pool_take(n * m);
}
extern "C" void free(void *p) { pool_give(p); }
extern "C" void *realloc(void *p, std::size_t n) {
  std::size_t old = 0;
  if (p)
    std::memcpy(&old, static_cast<char *>(p) - 8, 8);
  void *q = pool_take(n);
  if (q && p)
    std::memcpy(q, p, old < n ? old : n);
  pool_give(p);
  return q;
}
#define TAKE(n) malloc(n)
#define GIVE(p) free(p)
#endif

static void *volatile sink;

int main() {
  long before = live;
  for (int i = 0; i < 20000; i++) {
    sink = TAKE(999);
    std::memset(sink, 1, 999);
    GIVE(sink);
  }
  CHECK(live == before);
  struct counted c = counted_of(999);
  CHECK(c.allocs == c.frees);
  CHECK(c.allocs > 10);
  return 0;
}
