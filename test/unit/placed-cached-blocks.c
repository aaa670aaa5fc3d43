// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while a block is in the cache of placed blocks, the live map tells so
// to a thread that frees the block again. A block that a sample has taken from
// the cache, or that the cache has no slot for, is an unknown block. A signal
// handler that has interrupted the runtime gets no block from the cache and
// puts none into it.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t && %t

#include "core.h"

#include "heap/known_pages.h"
#include "heap/livemap.h"
#include "heap/placed_cache.h"
#include "thread/threads.h"

#include <stdlib.h>

static void *get(size_t size) {
  bool is_fresh;
  void *p = mprof_placed_get(size, &is_fresh);
  CHECK(p != NULL);
  return p;
}

static bool is_cached(const void *p) {
  bool is_placed;
  CHECK_EQ(mprof_live_take((uintptr_t)p, &is_placed), 0);
  return is_placed;
}

static void check_size(size_t size) {
  void *p = get(size);
  CHECK(!is_cached(p));
  CHECK(mprof_placed_put(p));
  CHECK(mprof_page_is_known(p));
  CHECK(is_cached(p));
  CHECK(!is_cached(p)); // the first call has removed the mark
  void *again = NULL;
  for (int i = 0; i < 10 && again != p; i++)
    again = get(size);
  CHECK(again == p);
  CHECK(mprof_placed_put(p));
  again = NULL;
  for (int i = 0; i < 10 && again != p; i++)
    again = get(size);
  CHECK(again == p);
  CHECK(!is_cached(p));
}

static void check_full(size_t size) {
  enum { BLOCKS = 20 };
  void *blocks[BLOCKS];
  int kept = 0;
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = get(size);
  for (int i = 0; i < BLOCKS; i++) {
    const bool is_kept = mprof_placed_put(blocks[i]);
    CHECK(is_cached(blocks[i]) == is_kept);
    kept += is_kept;
  }
  CHECK(kept > 0 && kept < BLOCKS);
}

static void check_interrupted(void) {
  void *p = get(100);
  CHECK(mprof_placed_put(p));
  CHECK(mprof_guard_enter());
  for (int i = 0; i < 20; i++) {
    void *other = get(100);
    CHECK(other != p);
    CHECK(!mprof_placed_put(other));
    CHECK(!is_cached(other));
  }
  mprof_guard_leave();
}

int main(void) {
  CHECK(mprof_guard_enter());
  CHECK(mprof_thread_self(true) != NULL);
  mprof_guard_leave();
  check_size(100);
  check_size(5000);
  check_interrupted();
  check_full(5000);
  check_full(100);
  return 0;
}
