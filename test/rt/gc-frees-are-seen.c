// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an object that the program frees by GC_free or moves by GC_realloc is
// no longer in use in the profile. This also holds if libgc reuses the address
// at once for an object that is not counted. A function marked mprof_ignore may
// free the object, too. If GC_realloc fails, the old object stays in the
// profile.
//
// REQUIRES: libgc
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t -lgc
// RUN: %run_quiet{heap_rate=1} %t

#include "gc.h"

static void **objects, **others;

// Allocates until the freed addresses are used again.
static void reuse(size_t size, void *wanted) {
  int found = 0;
  mprof_set_heap_rate(0);
  for (int i = 0; i < 2000; i++) {
    others[i] = GC_MALLOC(size);
    found |= others[i] == wanted;
  }
  mprof_set_heap_rate(1);
  CHECK(found);
}

__attribute__((mprof_ignore, noinline)) static void free_ignored(void *p) {
  GC_FREE(p);
}

static void expect(size_t size, long long allocs, long long frees) {
  collect();
  struct gc_counts c = counts_of(size);
  if (c.allocs == allocs && c.frees == frees)
    return;
  fprintf(stderr, "size %zu: %lld, %lld, not %lld, %lld\n", size, c.allocs,
          c.frees, allocs, frees);
  exit(1);
}

int main(void) {
  start();
  objects = GC_MALLOC_UNCOLLECTABLE(16 * sizeof(void *));
  others = GC_MALLOC_UNCOLLECTABLE(2000 * sizeof(void *));

  objects[0] = GC_MALLOC(200);
  void *volatile hidden = (void *)GC_HIDE_POINTER(objects[0]);
  GC_FREE(objects[0]);
  reuse(200, GC_REVEAL_POINTER(hidden));
  expect(200, 1, 1);

  objects[1] = GC_MALLOC(300);
  hidden = (void *)GC_HIDE_POINTER(objects[1]);
  free_ignored(objects[1]);
  reuse(300, GC_REVEAL_POINTER(hidden));
  expect(300, 1, 1);

  objects[2] = GC_MALLOC(400);
  hidden = (void *)GC_HIDE_POINTER(objects[2]);
  objects[2] = GC_REALLOC(objects[2], 5000);
  reuse(400, GC_REVEAL_POINTER(hidden));
  expect(400, 1, 1);
  expect(5000, 1, 0);

  // Requests that cannot be served.
  GC_set_warn_proc(GC_ignore_warn_proc);
  CHECK(GC_REALLOC(objects[2], (size_t)1 << 46) == NULL);
  expect(5000, 1, 0);
  objects[2] = GC_REALLOC(objects[2], 6000);
  expect(5000, 1, 1);
  expect(6000, 1, 0);
  GC_REALLOC(objects[2], 0);
  expect(6000, 1, 1);
  GC_FREE(NULL);
  return 0;
}
