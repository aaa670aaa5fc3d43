// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread keeps blocks on page boundaries ready for its samples. A
// freed block serves a small sample of any size, no other thread's sample, and
// the allocator's next block lies on no page boundary. errno is kept.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "heap/placed_cache.h"
#include "thread/threads.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

static bool is_on_page(const void *p) {
  return p && ((uintptr_t)p & (MPROF_PAGE - 1)) == 0;
}

static void *get(size_t size) {
  bool is_fresh;
  errno = 77;
  void *p = mprof_placed_get(size, &is_fresh);
  CHECK_EQ(errno, 77);
  CHECK(is_on_page(p));
  CHECK(malloc_usable_size(p) >= size);
  return p;
}

static void *other_thread(void *freed) {
  CHECK(mprof_guard_enter());
  CHECK(mprof_thread_self(true) != NULL);
  mprof_guard_leave();
  void *mine = get(100);
  CHECK(mine != freed);
  CHECK(mprof_placed_put(mine));
  return NULL;
}

static void check_threads(void) {
  CHECK(mprof_guard_enter());
  CHECK(mprof_thread_self(true) != NULL);
  mprof_guard_leave();
  void *p = get(100);
  CHECK(mprof_placed_put(p));
  pthread_t t;
  CHECK_EQ(pthread_create(&t, NULL, other_thread, p), 0);
  CHECK_EQ(pthread_join(t, NULL), 0);
  CHECK(get(4000) == p);
}

static void check_next_block(void) {
  enum { BLOCKS = 32 };
  for (int i = 0; i < BLOCKS; i++) {
    get(1 + (size_t)i * 100);
    CHECK(!is_on_page(malloc(1000)));
  }
}

// Larger sizes find their own freed blocks.
static void check_sizes(void) {
  for (size_t size = 4057; size < 32000; size += 13) {
    void *p = get(size);
    CHECK(mprof_placed_put(p));
    void *again = get(size);
    CHECK(again == p);
    free(again);
  }
}

int main(void) {
  check_threads();
  check_next_block();
  check_sizes();
  return 0;
}
