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
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

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

// Takes blocks from the cache until one of them is p.
static void get_again(const void *p, size_t size) {
  for (int i = 0; i < 10; i++)
    if (get(size) == p)
      return;
  CHECK(!"the cache has the block");
}

static void check_size(size_t size) {
  void *p = get(size);
  CHECK(!is_cached(p));
  CHECK(mprof_placed_put(p));
  CHECK(mprof_page_is_known(p));
  CHECK(is_cached(p));
  CHECK(!is_cached(p)); // the first call has removed the mark
  get_again(p, size);
  CHECK(mprof_placed_put(p));
  get_again(p, size);
  CHECK(!is_cached(p));
}

// Code without MProf may free the block in the cache, and the allocator may
// return it for a later sample.
static void check_reused(void) {
  uint32_t stale;
  bool is_placed;
  void *p = get(100);
  CHECK(mprof_placed_put(p));
  CHECK(mprof_guard_enter());
  CHECK(mprof_live_put((uintptr_t)p, true, 7, &stale));
  CHECK_EQ(stale, 0);
  CHECK_EQ(mprof_live_take((uintptr_t)p, &is_placed), 7);
  mprof_guard_leave();
  CHECK(is_placed);
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
  check_reused();
  check_interrupted();
  check_full(5000);
  check_full(100);
  return 0;
}
