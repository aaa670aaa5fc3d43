// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the program's own handler of libgc's collection events is called once
// per event. The handler may be set before or after the runtime's handler, by
// code with or without MProf. A later handler may also call the runtime's
// handler. MProf still sees which objects have died, at the latest at the next
// collection. The program reads back the handler that it has set. MProf uses
// the event numbers of libgc's header.
//
// REQUIRES: libgc
// RUN: %clang -c -DWITHOUT_MPROF -O1 -I%src/test/Inputs %s -o %t.other.o
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs -I%src/rt %s %t.other.o \
// RUN:   -o %t -lgc
// RUN: %run_quiet{heap_rate=1} %t

#include <gc/gc.h>

#ifdef WITHOUT_MPROF

GC_on_collection_event_proc other_get(void) {
  return GC_get_on_collection_event();
}
void other_set(GC_on_collection_event_proc f) { GC_set_on_collection_event(f); }

#else

#include "gc.h"

#include "heap/gc.h"

_Static_assert((int)MPROF_GC_MARK_START == (int)GC_EVENT_MARK_START, "");
_Static_assert((int)MPROF_GC_MARK_END == (int)GC_EVENT_MARK_END, "");
_Static_assert((int)MPROF_GC_RECLAIM_START == (int)GC_EVENT_RECLAIM_START, "");
_Static_assert((int)MPROF_GC_RECLAIM_END == (int)GC_EVENT_RECLAIM_END, "");
_Static_assert((int)MPROF_GC_PRE_STOP_WORLD == (int)GC_EVENT_PRE_STOP_WORLD,
               "");
_Static_assert((int)MPROF_GC_POST_START_WORLD == (int)GC_EVENT_POST_START_WORLD,
               "");

GC_on_collection_event_proc other_get(void);
void other_set(GC_on_collection_event_proc f);

static int starts, ends, others;
static GC_on_collection_event_proc before;

static void handler(GC_EventType e) {
  starts += e == GC_EVENT_MARK_START;
  ends += e == GC_EVENT_MARK_END;
}

static void chaining(GC_EventType e) {
  others += e == GC_EVENT_MARK_END;
  if (before)
    before(e);
}

static void **objects;

static void expect_deaths(size_t size) {
  row_size = size;
  allocate(objects, 10), collect(), READ(10, 0);
  drop(objects, 10), collect(), READ(10, 10);
}

int main(void) {
  start();
  // Before the first counted object.
  CHECK(GC_get_on_collection_event() == NULL);
  GC_set_on_collection_event(handler);
  CHECK(GC_get_on_collection_event() == handler);
  GC_gcollect();
  CHECK(starts == 1 && ends == 1);
  objects = GC_MALLOC_UNCOLLECTABLE(16 * sizeof(void *));
  expect_deaths(100);
  CHECK(starts == 3 && ends == 3);

  // No handler, then a handler again.
  GC_set_on_collection_event(NULL);
  CHECK(GC_get_on_collection_event() == NULL);
  expect_deaths(200);
  CHECK(ends == 3);
  GC_set_on_collection_event(handler);
  expect_deaths(300);
  CHECK(ends == 5);

  // A library whose handler calls the previous one.
  before = other_get();
  CHECK(before != handler);
  other_set(chaining);
  expect_deaths(400);
  CHECK(ends == 7 && others == 2);
  CHECK(other_get() != NULL);

  // A library whose handler does not call the previous one: the runtime misses
  // a collection. The next collection finds the objects that died.
  row_size = 500;
  allocate(objects, 10), collect(), READ(10, 0);
  drop(objects, 10);
  ends = others = 0;
  other_set(handler);
  collect();
  CHECK(ends == 1 && others == 0);
  READ(10, 0);
  void *volatile sink = GC_MALLOC(16);
  CHECK(other_get() != handler && sink);
  collect();
  READ(10, 10);
  CHECK(ends == 2 && others == 0);
  return 0;
}

#endif
