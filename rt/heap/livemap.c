// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the address of each live counted block to a 32-bit value. (Go:
// setprofilebucket, the special of a span) The map has four parts:
//
//   by_page   heap blocks that the runtime has placed on page boundaries
//   by_16     other heap blocks on 16-byte boundaries
//   custom    blocks of the program's own allocators on 16-byte boundaries
//   odd       all other blocks: off a 16-byte boundary, or above 2^47
//
// by_page, by_16 and custom are radix trees without locks. odd is a hash table
// with a lock. The value of a heap block is the handle of its bucket.
// custom_blocks.c defines the values for blocks of the program's own
// allocators.

#include "heap/livemap.h"

#include "sys/assert.h"
#include "sys/lock.h"
#include "sys/persistent.h"

// A tree has three levels of tables: top, middle and leaf. Each slot of a top
// or middle table has the handle of a table of the next level. A leaf has 2^12
// slots, and a middle table has 2^16. The top table covers the remaining bits
// of a 47-bit address.
//
// Only the thread that owns the block at an address uses the address's slot in
// a leaf. So relaxed loads and stores suffice. If two threads create the same
// table at the same time, one of their two tables stays unused.
#define LEAF_BITS 12
#define MIDDLE_BITS 16

struct tree {
  unsigned unit_bits; // a leaf's slot covers 2^unit_bits bytes
  _Atomic uint32_t top;
};

// This struct begins a cache line, so that no data that is often written is in
// the same line. The struct itself is rarely written after the first blocks.
static struct {
  _Alignas(64) struct tree by_page;
  struct tree by_16;
  struct tree custom; // blocks of the program's own allocators
} trees = {.by_page = {.unit_bits = 12},
           .by_16 = {.unit_bits = 4},
           .custom = {.unit_bits = 4}};

static _Atomic uint32_t *block(uint32_t handle) {
  return mprof_persistent_pointer(handle);
}

// Returns the table whose handle is *handle. If *handle is 0 and `make` is
// true, creates a table of 2^bits slots. Returns NULL if *handle is 0 and no
// table was created.
static _Atomic uint32_t *child(_Atomic uint32_t *handle, unsigned bits,
                               bool make) {
  uint32_t h = atomic_load_explicit(handle, memory_order_acquire);
  if (h)
    return block(h);
  if (!make)
    return NULL;
  void *mine = mprof_persistent_alloc(sizeof(uint32_t) << bits);
  if (!mine)
    return NULL;
  if (atomic_compare_exchange_strong(handle, &h, mprof_persistent_handle(mine)))
    return mine;
  return block(h);
}

static _Atomic uint32_t *slot(struct tree *t, uintptr_t addr, bool make) {
  uintptr_t unit = addr >> t->unit_bits;
  unsigned top_bits =
      MPROF_ADDRESS_BITS - t->unit_bits - MIDDLE_BITS - LEAF_BITS;
  _Atomic uint32_t *p = child(&t->top, top_bits, make);
  if (!p)
    return NULL;
  p = child(&p[unit >> (MIDDLE_BITS + LEAF_BITS)], MIDDLE_BITS, make);
  if (!p)
    return NULL;
  p = child(&p[unit >> LEAF_BITS & ((1u << MIDDLE_BITS) - 1)], LEAF_BITS, make);
  return p ? &p[unit & ((1u << LEAF_BITS) - 1)] : NULL;
}

static bool tree_put(struct tree *t, uintptr_t addr, uint32_t bucket,
                     uint32_t *stale) {
  _Atomic uint32_t *s = slot(t, addr, true);
  if (!s)
    return false;
  *stale = atomic_load_explicit(s, memory_order_relaxed);
  atomic_store_explicit(s, bucket, memory_order_relaxed);
  return true;
}

static uint32_t tree_take(struct tree *t, uintptr_t addr) {
  _Atomic uint32_t *s = slot(t, addr, false);
  uint32_t bucket = s ? atomic_load_explicit(s, memory_order_relaxed) : 0;
  if (bucket)
    atomic_store_explicit(s, 0, memory_order_relaxed);
  return bucket;
}

// The hash table for blocks whose addresses have no slot in a tree. Each head
// begins a chain of nodes with the same hash. When a block is freed, its node
// is kept for reuse.
#define ODD_HEADS 4096u

struct node {
  struct node *next;
  uintptr_t addr;
  uint32_t bucket; // handle; for a custom block: see custom_blocks.c
  bool is_custom;
};

struct mprof_lock mprof_odd_lock = MPROF_LOCK_INIT(MPROF_RANK_ODD);

static struct {
  struct node **heads; // array of ODD_HEADS heads
  struct node *unused;
  _Atomic size_t count;
} odd; // guarded by odd_lock; count is also read without odd_lock

static struct node **odd_find(uintptr_t addr, bool is_custom) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ODD));
  struct node **n = &odd.heads[(addr * 0x9e3779b97f4a7c15u >> 40) % ODD_HEADS];
  while (*n && ((*n)->addr != addr || (*n)->is_custom != is_custom))
    n = &(*n)->next;
  return n;
}

static struct node *odd_new_node(void) {
  struct node *n = odd.unused;
  if (n)
    odd.unused = n->next;
  else
    n = mprof_persistent_alloc(sizeof(*n));
  return n;
}

static bool odd_put_locked(uintptr_t addr, bool is_custom, uint32_t bucket,
                           uint32_t *stale) {
  if (!odd.heads)
    odd.heads = mprof_persistent_alloc(ODD_HEADS * sizeof(odd.heads[0]));
  if (!odd.heads)
    return false;
  struct node **at = odd_find(addr, is_custom);
  if (*at) {
    *stale = (*at)->bucket;
    (*at)->bucket = bucket;
    return true;
  }
  struct node *n = odd_new_node();
  if (!n)
    return false;
  *n = (struct node){
      .next = *at, .addr = addr, .bucket = bucket, .is_custom = is_custom};
  *at = n;
  atomic_fetch_add_explicit(&odd.count, 1, memory_order_relaxed);
  return true;
}

static uint32_t odd_take_locked(uintptr_t addr, bool is_custom) {
  if (!odd.heads)
    return 0;
  struct node **at = odd_find(addr, is_custom);
  struct node *n = *at;
  if (!n)
    return 0;
  *at = n->next;
  n->next = odd.unused;
  odd.unused = n;
  atomic_fetch_sub_explicit(&odd.count, 1, memory_order_relaxed);
  return n->bucket;
}

bool mprof_live_put(uintptr_t addr, bool is_placed, uint32_t bucket,
                    uint32_t *stale) {
  *stale = 0;
  if (mprof_likely(!mprof_live_needs_guard(addr)))
    return tree_put(is_placed ? &trees.by_page : &trees.by_16, addr, bucket,
                    stale);
  mprof_lock_acquire(&mprof_odd_lock);
  bool ok = odd_put_locked(addr, false, bucket, stale);
  mprof_lock_release(&mprof_odd_lock);
  return ok;
}

uint32_t mprof_live_take(uintptr_t addr, bool *is_placed) {
  *is_placed = false;
  if (mprof_unlikely(mprof_live_needs_guard(addr))) {
    // The calling thread owns the block, so it sees the block's insertion. If
    // the count is 0, the block is therefore not in the hash table.
    if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
      return 0;
    mprof_lock_acquire(&mprof_odd_lock);
    uint32_t bucket = odd_take_locked(addr, false);
    mprof_lock_release(&mprof_odd_lock);
    return bucket;
  }
  if ((addr & ((1u << trees.by_page.unit_bits) - 1)) == 0) {
    uint32_t bucket = tree_take(&trees.by_page, addr);
    *is_placed = bucket != 0;
    if (bucket)
      return bucket;
  }
  return tree_take(&trees.by_16, addr);
}

uint32_t mprof_live_custom(uintptr_t addr) {
  if (mprof_likely(!mprof_live_needs_guard(addr))) {
    _Atomic uint32_t *s = slot(&trees.custom, addr, false);
    return s ? atomic_load_explicit(s, memory_order_acquire) : 0;
  }
  uint32_t value = 0;
  if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
    return 0;
  mprof_lock_acquire(&mprof_odd_lock);
  struct node *n = odd.heads ? *odd_find(addr, true) : NULL;
  if (n)
    value = n->bucket;
  mprof_lock_release(&mprof_odd_lock);
  return value;
}

static bool odd_set_custom(uintptr_t addr, uint32_t value) {
  uint32_t before;
  bool ok = true;
  mprof_lock_acquire(&mprof_odd_lock);
  if (value != 0)
    ok = odd_put_locked(addr, true, value, &before);
  else
    odd_take_locked(addr, true);
  mprof_lock_release(&mprof_odd_lock);
  return ok;
}

bool mprof_live_set_custom(uintptr_t addr, uint32_t value) {
  if (mprof_unlikely(mprof_live_needs_guard(addr)))
    return odd_set_custom(addr, value);
  _Atomic uint32_t *s = slot(&trees.custom, addr, value != 0);
  if (!s)
    return value == 0;
  atomic_store_explicit(s, value, memory_order_release);
  return true;
}

void mprof_live_reset(void) {
  atomic_store(&trees.by_page.top, 0);
  atomic_store(&trees.by_16.top, 0);
  atomic_store(&trees.custom.top, 0);
  mprof_lock_reset(&mprof_odd_lock);
  odd.heads = NULL;
  odd.unused = NULL;
  atomic_store(&odd.count, 0);
}
