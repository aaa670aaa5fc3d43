// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of freed blocks that were counted and are on page boundaries. Later
// samples use these blocks again. An allocator usually returns the block that
// was freed last. If a counted block were freed to the allocator, the hot loop
// that freed the block would get the same block again. The block would now be
// uncounted, but still on a page boundary, so each later free in the loop would
// call the runtime.
//
// Therefore counted blocks stay in this cache until a sample of the same size
// needs one. A block is freed to the allocator if the cache has no slot for the
// block. Large blocks have no slot, because the allocation of a large block
// takes so long that an extra call of the runtime does not matter.

#include "heap/placed_cache.h"

#include "heap/beneath.h"

#include <malloc.h>
#include <stdlib.h>

#pragma weak malloc_usable_size

// Classes of usable sizes. Below 1 KiB, where allocators have per-thread
// caches, there is one class for each 16 bytes, with at most 8 blocks. From 1
// KiB to 32 KiB there are 8 classes for each doubling of the size, with at most
// 2 blocks each. So the cache keeps at most about 1 MiB.
#define FINE_BYTES 16u
#define FINE_CLASSES 64u
#define LG_FINE_END 10u
#define CLASSES (FINE_CLASSES + (MPROF_LG_PLACED_END - LG_FINE_END) * 8)
#define FINE_SLOTS 8u
#define COARSE_SLOTS 2u

// The freed blocks in the cache. Threads need no lock, because they insert and
// remove a block by an atomic exchange of its slot.
static _Atomic(void *) kept[CLASSES][FINE_SLOTS];

// Number of blocks in the cache for each hash value of a block's address. When
// the program frees a block, mprof_placed_expose searches the cache for its
// address only if the counter for this address is not 0, which is rare. A
// counter may be too high for a moment, but it is never too low.
#define COUNTERS 1024u
static _Atomic uint16_t counters[COUNTERS];

static _Atomic uint16_t *counter_of(const void *p) {
  return &counters[(uintptr_t)p / MPROF_PAGE % COUNTERS];
}
static void note(const void *p, int n) {
  atomic_fetch_add_explicit(counter_of(p), (uint16_t)n, memory_order_relaxed);
}
static unsigned kept_at(const void *p) {
  return atomic_load_explicit(counter_of(p), memory_order_relaxed);
}

static size_t class_of(size_t size) {
  if (size < FINE_BYTES * FINE_CLASSES)
    return size / FINE_BYTES;
  unsigned lg = 63 - (unsigned)__builtin_clzll(size);
  return FINE_CLASSES + (size_t)(lg - LG_FINE_END) * 8 + (size >> (lg - 3) & 7);
}

static unsigned slots_of(size_t at) {
  if (at >= CLASSES)
    return 0;
  return at < FINE_CLASSES ? FINE_SLOTS : COARSE_SLOTS;
}

bool mprof_placed_put(void *p) {
  if (((uintptr_t)p & (MPROF_PAGE - 1)) != 0 || !p)
    return false;
  size_t at = class_of(malloc_usable_size(p));
  note(p, 1);
  for (unsigned i = 0; i < slots_of(at); i++) {
    void *empty = NULL;
    if (atomic_load_explicit(&kept[at][i], memory_order_relaxed) == NULL &&
        atomic_compare_exchange_strong(&kept[at][i], &empty, p))
      return true;
  }
  note(p, -1);
  return false;
}

// p may be any address that the program passed to free. So this function must
// not call malloc_usable_size, which would read the memory in front of p.
void mprof_placed_expose(void *p) {
  if (mprof_likely(kept_at(p) == 0))
    return;
  for (size_t at = 0; at < CLASSES; at++)
    for (unsigned i = 0; i < slots_of(at); i++) {
      void *expected = p;
      if (atomic_load_explicit(&kept[at][i], memory_order_relaxed) == p &&
          atomic_compare_exchange_strong(&kept[at][i], &expected, NULL)) {
        note(p, -1);
        NEXT(free)(p);
        return;
      }
    }
}

static void *take_from(size_t at, size_t size) {
  for (unsigned i = 0; i < slots_of(at); i++) {
    if (atomic_load_explicit(&kept[at][i], memory_order_relaxed) == NULL)
      continue;
    void *p = atomic_exchange(&kept[at][i], NULL);
    if (!p)
      return NULL;
    note(p, -1);
    if (malloc_usable_size(p) >= size)
      return p;
    // The block is smaller than `size`, although both are in the same class.
    // Insert the block into the cache again. The block is freed if other
    // threads have filled the slots in the meantime.
    if (!mprof_placed_put(p))
      NEXT(free)(p);
  }
  return NULL;
}

void *mprof_placed_take(size_t size) {
  size_t at = class_of(size);
  void *p = take_from(at, size);
  return p ? p : take_from(at + 1, size);
}
