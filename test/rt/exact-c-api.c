// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 the blocks and bytes of every allocation function of
// C are counted exactly, and so are their frees. Each call site has one bucket
// (a counter for a stack and size), which all threads share.
//
// RUN: %mprof_clang -fmprof -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1} %t

#define _GNU_SOURCE
#include "records.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

enum { THREADS = 4, ROUNDS = 100 };
static _Thread_local void *volatile sink;
static volatile size_t too_many = SIZE_MAX / 2 + 1;
static char text[5000];
static wchar_t wide[5000];

// One site per function: 2 blocks of a size used nowhere else, of which 1 is
// freed.
#define SITE(Name, Size, Expr)                                                 \
  __attribute__((noinline)) static void Name(void) {                           \
    const size_t size = (Size);                                                \
    (void)size;                                                                \
    for (volatile int i = 0; i < 2; i++) {                                     \
      void *p = Expr;                                                          \
      sink = p;                                                                \
      if (i == 0)                                                              \
        free(sink);                                                            \
    }                                                                          \
  }

static void *by_posix_memalign(size_t size) {
  void *p = NULL;
  return posix_memalign(&p, 64, size) == 0 ? p : NULL;
}

SITE(site_malloc, 1001, malloc(size))
SITE(site_calloc, 1008, calloc(4, size / 4))
SITE(site_aligned_alloc, 1024, aligned_alloc(32, size))
SITE(site_posix_memalign, 1003, by_posix_memalign(size))
SITE(site_memalign, 1005, memalign(128, size))
SITE(site_valloc, 1007, valloc(size))
SITE(site_pvalloc, 1009, pvalloc(size))
SITE(site_strdup, 1011, strdup(text + 5000 - 1011))
SITE(site_strndup, 1013, strndup(text, 1012))
SITE(site_wcsdup, 1016, wcsdup(wide + 5000 - 1016 / 4))
SITE(site_zero, 0, malloc(size))

// Moves a block five times: each step frees one size and allocates the next.
__attribute__((noinline)) static void site_realloc(void) {
  void *p = NULL;
  for (size_t k = 0; k < 5; k++)
    sink = p = realloc(p, 2000 + k);
  CHECK(realloc(p, SIZE_MAX / 4) == NULL); // fails: the block stays counted
}

__attribute__((noinline)) static void site_reallocarray(void) {
  void *p = reallocarray(NULL, 3, 700);
  sink = p = reallocarray(p, 4, 701);
  CHECK(reallocarray(p, SIZE_MAX, 16) == NULL);
  p = realloc(p, 0); // glibc frees the block
  CHECK(p == NULL);
}

static void *work(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    site_malloc(), site_calloc(), site_aligned_alloc(), site_posix_memalign();
    site_memalign(), site_valloc(), site_pvalloc(), site_strdup();
    site_strndup(), site_wcsdup(), site_zero(), site_realloc();
    site_reallocarray();
    sink = calloc(too_many, 3);
    CHECK(sink == NULL);
    sink = malloc(too_many);
    CHECK(sink == NULL);
    free(NULL);
  }
  return arg;
}

static void check(unsigned long long n) {
  const size_t sizes[] = {1001, 1008, 1024, 1003, 1005, 1007,
                          1009, 1011, 1013, 1016, 0};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    EXPECT(sizes[i], 1, 2 * n, n);
  for (size_t k = 0; k < 4; k++)
    EXPECT(2000 + k, 1, n, n);
  EXPECT(2004, 1, n, 0);
  EXPECT(3 * 700, 1, n, n);
  EXPECT(4 * 701, 1, n, n);
  EXPECT(too_many, 0, 0, 0);
}

int main(void) {
  memset(text, 'x', sizeof(text) - 1);
  wmemset(wide, L'x', sizeof(wide) / sizeof(wide[0]) - 1);
  // All threads share the stack of work, which has no frame of main.
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  check((unsigned long long)THREADS * ROUNDS);
  return 0;
}
