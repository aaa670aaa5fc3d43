// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an object of libgc with a finalizer, and all objects that it refers
// to, are in use until the collection after the finalizer has run. They stay in
// use longer if the finalizer stores a reference to the object. Disappearing
// links are cleared as without MProf. Allocations in finalizers are counted.
//
// REQUIRES: libgc
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -I%src/test/Inputs %s -o %t -lgc
// RUN: %run_quiet{heap_rate=1} %t

#include "gc.h"

enum { OBJECTS = 20 };
static int finalized;
static void **objects, **links;
static void **saved;

static void finalizer(void *object, void *arg) {
  (void)arg;
  if (finalized++ % 2 == 0)
    saved[finalized / 2] = object;
  GC_MALLOC(777);
}

__attribute__((noinline)) static void make(void) {
  for (int i = 0; i < OBJECTS; i++) {
    void **p = GC_MALLOC(120);
    p[0] = GC_MALLOC(136);
    GC_REGISTER_FINALIZER(p, finalizer, NULL, NULL, NULL);
    objects[i] = p;
    void *q = GC_MALLOC(152);
    objects[OBJECTS + i] = q;
    links[i] = (void *)GC_HIDE_POINTER(q);
    GC_general_register_disappearing_link(&links[i], q);
  }
}

// Compares the counts; one object may be missing.
static void expect(size_t size, long long allocs, long long frees) {
  row_size = size;
  READ(allocs, frees);
}

int main(void) {
  start();
  GC_set_finalize_on_demand(1);
  objects = GC_MALLOC_UNCOLLECTABLE(2 * OBJECTS * sizeof(void *));
  saved = GC_MALLOC_UNCOLLECTABLE(OBJECTS * sizeof(void *));
  links = GC_MALLOC_ATOMIC_UNCOLLECTABLE(OBJECTS * sizeof(void *));
  make();
  clear_stack();
  collect();
  expect(120, OBJECTS, 0), expect(136, OBJECTS, 0), expect(152, OBJECTS, 0);
  CHECK(links[3] != NULL);

  // These objects are dead, but are kept for their finalizers. The other
  // objects were freed, and their links cleared.
  memset(objects, 0, 2 * OBJECTS * sizeof(void *));
  collect(), collect();
  struct gc_counts c = counts_of(120);
  CHECK(c.allocs == OBJECTS && c.frees == 0);
  c = counts_of(136);
  CHECK(c.allocs == OBJECTS && c.frees == 0);
  expect(152, OBJECTS, OBJECTS);
  int left = 0;
  for (int i = 0; i < OBJECTS; i++)
    left += links[i] != NULL;
  CHECK(left <= 1);

  // Every second finalizer stores a reference to its object.
  GC_invoke_finalizers();
  CHECK(finalized >= OBJECTS - 1);
  clear_stack();
  collect();
  expect(120, OBJECTS, OBJECTS / 2), expect(136, OBJECTS, OBJECTS / 2);
  expect(777, finalized, finalized);
  memset(saved, 0, OBJECTS * sizeof(void *));
  collect();
  expect(120, OBJECTS, OBJECTS), expect(136, OBJECTS, OBJECTS);
  return 0;
}
