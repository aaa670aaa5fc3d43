// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: custom allocators call each other and malloc, directly, in helper
// functions and through code that keeps no frame pointers. By default, a call
// of an allocator is not counted if it is written directly in the code of
// another allocator. With -fmprof-nested=outermost only the outermost block is
// counted, and with -fmprof-nested=each every block. All blocks are counted as
// freed, although they have the same address.
//
// RUN: rm -rf %t.dir && split-file %s %t.dir && cd %t.dir
// RUN: %clang -O2 -fomit-frame-pointer -c through.c -o through.o
// RUN: for level in -O0 -O2; do \
// RUN:   for nested in written outermost each; do \
// RUN:     %mprof_clang -fmprof -fmprof-nested=$nested $level \
// RUN:       -I%src/test/Inputs main.c through.o -o $nested || exit 1; \
// RUN:     %run_quiet{heap_rate=1} ./$nested $nested || exit 1; \
// RUN:     %run_quiet{seed=5} ./$nested sampled || exit 1; done; \
// RUN:   %mprof_clang -fmprof $level -I%src/test/Inputs main.c through.o -o app \
// RUN:     || exit 1; \
// RUN:   %run_quiet{heap_rate=1} ./app written || exit 1; done

//--- through.c
#include <stddef.h>
// Needs every register, so its callees find any value in the frame pointer.
void *through(void *(*f)(size_t), size_t n, const unsigned *v) {
  unsigned a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], g = v[5];
  void *p = f(n);
  return v[6] + a * b + c * d + e * g == 1 ? NULL : p;
}

//--- main.c
#include "records.h"

#include <string.h>

enum { ROUNDS = 5000 };
void *through(void *(*f)(size_t), size_t n, const unsigned *v);
static const unsigned zeros[7];
static void *volatile sink;

__attribute__((noinline)) static void *helper_of_inner(size_t n) {
  return malloc(n + 3);
}
__attribute__((mprof_alloc(1), noinline)) static void *inner(size_t n) {
  sink = malloc(n + 2);
  free(sink);
  return helper_of_inner(n);
}
__attribute__((mprof_free(1), noinline)) static void inner_free(void *p) {
  free(p);
}
__attribute__((noinline)) static void *helper_of_outer(size_t n) {
  return inner(n + 10);
}
__attribute__((mprof_alloc(1), noinline)) static void *outer(size_t n) {
  return through(helper_of_outer, n, zeros);
}
__attribute__((noinline)) static void helper_of_free(void *p) { inner_free(p); }
__attribute__((mprof_free(1), noinline)) static void outer_free(void *p) {
  helper_of_free(p);
}
__attribute__((noinline)) static void *resize_helper(void *p, size_t n) {
  char *q = helper_of_outer(n);
  if (p)
    memcpy(q, p, 8);
  helper_of_free(p);
  return q;
}
__attribute__((mprof_realloc(1, 2), noinline)) static void *
outer_realloc(void *p, size_t n) {
  return resize_helper(p, n);
}

// All inlined, so that the optimizer sees only the site and malloc.
static inline void *inlined_helper(size_t n) { return malloc(n + 3); }
__attribute__((mprof_alloc(1))) static inline void *inlined(size_t n) {
  return inlined_helper(n);
}
__attribute__((mprof_free(1))) static inline void inlined_free(void *p) {
  free(p);
}

static void expect(const char *mode, size_t size, unsigned written,
                   unsigned outermost, unsigned each, unsigned kept) {
  unsigned n = strcmp(mode, "written") == 0     ? written
               : strcmp(mode, "outermost") == 0 ? outermost
                                                : each;
  struct counted c = counted_of(size);
  unsigned long long in_use = n ? kept : 0;
  if (strcmp(mode, "sampled") == 0) {
    n = (unsigned)c.allocs;
    in_use = kept ? c.allocs - c.frees : 0;
  }
  if (c.allocs != n || c.frees != n - in_use) {
    fprintf(stderr,
            "%s, size %zu: %llu allocs, %llu frees, not %u and %u in use\n",
            mode, size, c.allocs, c.frees, n, kept);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const char *mode = argv[argc - 1];
  for (int i = 0; i < ROUNDS; i++) {
    sink = outer(1000);
    sink = outer_realloc(sink, 2000);
    outer_free(sink);
  }
  for (int i = 0; i < ROUNDS; i++)
    outer_free(sink = outer(1000));
  for (int i = 0; i < ROUNDS; i++)
    free(sink = malloc(5000));
  for (int i = 0; i < ROUNDS; i++)
    inlined_free(sink = inlined(4000));
  expect(mode, 1000, 2 * ROUNDS, 2 * ROUNDS, 2 * ROUNDS, 0);
  expect(mode, 1010, 2 * ROUNDS, 0, 2 * ROUNDS, 0);
  expect(mode, 1012, 0, 0, 2 * ROUNDS, 0);
  expect(mode, 1013, 2 * ROUNDS, 0, 2 * ROUNDS, 0);
  expect(mode, 2000, ROUNDS, ROUNDS, ROUNDS, 0);
  expect(mode, 2010, ROUNDS, 0, ROUNDS, 0);
  expect(mode, 2013, ROUNDS, 0, ROUNDS, 0);
  expect(mode, 5000, ROUNDS, ROUNDS, ROUNDS, 0);
  expect(mode, 4000, ROUNDS, ROUNDS, ROUNDS, 0);
  expect(mode, 4003, ROUNDS, 0, ROUNDS, 0);

  // A block in use is counted once for each allocator that counts the block.
  sink = outer(3000);
  expect(mode, 3000, 1, 1, 1, 1);
  // The outer block replaces this one, which has the same address, unless each
  // block is counted.
  expect(mode, 3010, 1, 0, 1, strcmp(mode, "each") == 0);
  expect(mode, 3013, 1, 0, 1, 1);
  return 0;
}
