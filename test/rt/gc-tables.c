// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: for objects of libgc, the heap profile follows the same rules as Go's
// heap profile. A read shows the heap as of the last collection. Before the
// first collection, a read shows all events. The test checks sequences of
// allocations, collections and reads. The counts may be wrong by one object,
// because an old word on a stack may keep an object reachable.
//
// REQUIRES: libgc
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t -lgc
// RUN: %run_quiet{heap_rate=1} %t

#include "gc.h"

static void **objects;

static void row(size_t size) { row_size = size; }

int main(void) {
  start();
  objects = GC_MALLOC_UNCOLLECTABLE(256 * sizeof(void *));

  // Before the first collection, each read publishes all events. After it, only
  // a collection does.
  row(40);
  allocate(objects, 10), READ(10, 0);
  allocate(objects + 10, 5), READ(15, 0);
  drop(objects, 15), collect(), READ(15, 15);
  allocate(objects, 3), READ(15, 15);
  collect(), READ(18, 15);
  drop(objects, 3);

  // Allocates 10; a collection finds 4 of them dead.
  row(56);
  allocate(objects, 10), drop(objects, 4), collect(), READ(10, 4);
  drop(objects + 4, 6), collect(), READ(10, 10);

  // Each request leaks one object.
  row(72);
  for (int k = 0; k < 4; k++) {
    allocate(objects, 100), allocate(objects + 100 + k, 1);
    drop(objects, 100), collect();
    READ(101 * (k + 1), 100 * (k + 1));
  }
  drop(objects + 100, 4);

  // Late frees do not distort the counts: 10 were allocated, 4 of them died,
  // and none is shown before a collection has found it.
  row(88);
  allocate(objects, 1), collect(), collect(), READ(1, 0);
  allocate(objects + 1, 10), drop(objects + 1, 4), READ(1, 0);
  collect(), READ(11, 4);
  drop(objects, 11);

  // GC_free and GC_realloc are explicit: they count at the next collection.
  row(104);
  allocate(objects, 6), collect(), READ(6, 0);
  GC_FREE(objects[0]), objects[0] = NULL, READ(6, 0);
  collect(), READ(6, 1);
  objects[1] = GC_REALLOC(objects[1], 2000), collect(), READ(6, 2);
  drop(objects, 6), collect(), READ(6, 6);
  return 0;
}
