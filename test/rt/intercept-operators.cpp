// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: operator new and delete follow the standard for sizes, alignments,
// the new_handler, bad_alloc and null pointers, in sampled and exact mode. If
// the program replaces the plain forms, the other forms call the replacements,
// also from libraries. Each block is counted once.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -std=c++17 -O1 -shared -fPIC -DLIBRARY %s -o libplain.so
// RUN: for own in "" -DOWN; do for lib in %stdlibs; do \
// RUN:   %mprof_clangxx -fmprof -std=c++17 -O1 -stdlib=$lib $own \
// RUN:     -I%src/test/Inputs %s libplain.so -Wl,-rpath,$PWD -o app || exit 1; \
// RUN:   for rate in 1 65536 524288; do \
// RUN:     %run_quiet{heap_rate=$rate:seed=5} ./app $rate || exit 1; \
// RUN: done; done; done

#include <cstddef>
#include <new>

#ifdef LIBRARY

void *plain_new(size_t size) { return ::operator new[](size); }
void plain_delete(void *p) { ::operator delete[](p); }

#else

#include "check.h"

#include <mprof/mprof.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern void *plain_new(size_t size);
extern void plain_delete(void *p);

#ifdef OWN
static long news, deletes;
void *operator new(size_t size) {
  news++;
  void *p = malloc(size ? size : 1);
  if (!p)
    throw std::bad_alloc();
  return p;
}
void operator delete(void *p) noexcept {
  deletes++;
  free(p);
}
#endif

static const size_t TOO_MUCH = (size_t)1 << 46;
static int asked;
static void give_up() {
  if (++asked == 3)
    std::set_new_handler(nullptr);
}

template <class Fn> static bool throws(Fn f) {
  try {
    f();
  } catch (const std::bad_alloc &) {
    return true;
  }
  return false;
}

static unsigned long long allocs, frees;
static void add(const mprof_mem_bucket *b, void *size) {
  if (b->size != *(size_t *)size)
    return;
  allocs += b->allocs;
  frees += b->frees;
}
static void expect(size_t size, unsigned long long n) {
  allocs = frees = 0;
  mprof_next_cycle();
  mprof_iterate_mem(add, &size);
  if (allocs == n && frees == n)
    return;
  fprintf(stderr, "size %zu: %llu, %llu, not %llu\n", size, allocs, frees, n);
  exit(1);
}

static void forms() {
  using std::align_val_t;
  for (int i = 0; i < 2000; i++) {
    void *p[] = {operator new(1001),
                 operator new[](1002),
                 operator new(1003, std::nothrow),
                 operator new[](1004, std::nothrow),
                 operator new(1005, align_val_t(128)),
                 operator new[](1006, align_val_t(512)),
                 operator new(1007, align_val_t(8192), std::nothrow),
                 operator new[](1008, align_val_t(1), std::nothrow),
                 plain_new(1009)};
    for (int k = 0; k < 9; k++) {
      CHECK(p[k] && (uintptr_t)p[k] % (k < 4 ? 16 : 1) == 0);
      memset(p[k], 1, 1001 + (size_t)k);
    }
    CHECK((uintptr_t)p[4] % 128 == 0 && (uintptr_t)p[5] % 512 == 0 &&
          (uintptr_t)p[6] % 8192 == 0);
    operator delete(p[0], 1001);
    operator delete[](p[1], 1002);
    operator delete(p[2], std::nothrow);
    operator delete[](p[3]);
    operator delete(p[4], 1005, align_val_t(128));
    operator delete[](p[5], align_val_t(512));
    operator delete(p[6], align_val_t(8192), std::nothrow);
    operator delete[](p[7], 1008, align_val_t(1));
    plain_delete(p[8]);
  }
  operator delete(nullptr);
  operator delete[](nullptr, 8, align_val_t(64));
}

int main(int, char **argv) {
  forms();
#ifdef OWN
  CHECK(news == 2000 * 5 && deletes == 2000 * 5 + 1);
#endif
  if (atoi(argv[1]) == 1)
    for (size_t size = 1001; size <= 1009; size++)
      expect(size, 2000);

  void *zero = operator new(0), *other = operator new(0);
  CHECK(zero && other && zero != other);
  operator delete(zero);
  operator delete(other, (size_t)0);

  CHECK(throws([] { operator delete(operator new(TOO_MUCH)); }));
  CHECK(throws([] { operator delete[](operator new[](TOO_MUCH)); }));
  CHECK(throws([] { (void)operator new(TOO_MUCH, std::align_val_t(64)); }));
  CHECK(!operator new(TOO_MUCH, std::nothrow));
  CHECK(!operator new[](TOO_MUCH, std::nothrow));
  CHECK(!operator new(TOO_MUCH, std::align_val_t(64), std::nothrow));
#ifndef OWN
  std::set_new_handler(give_up);
  CHECK(throws([] { operator delete(operator new(TOO_MUCH)); }) && asked == 3);
  asked = 0;
  std::set_new_handler(give_up);
  CHECK(!operator new[](TOO_MUCH, std::nothrow) && asked == 3);
  std::set_new_handler([] { throw std::bad_alloc(); });
  CHECK(throws([] { plain_new(TOO_MUCH); }));
#endif
  return 0;
}
#endif
