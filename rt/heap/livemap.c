// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the address of each live counted block to a 32-bit value. (Go:
// setprofilebucket, the special of a span) The map has four parts:
//
//   by_page   heap blocks on page boundaries, while sampled blocks are placed
//             there
//   by_16     other heap blocks on 16-byte boundaries
//   custom    blocks of the program's own allocators on 16-byte boundaries
//   odd       all other blocks: off a 16-byte boundary, or above 2^47
//
// by_page, by_16 and custom are radix trees without locks. odd is a hash table
// with a lock. The value of a heap block is the handle of its cell.
// custom_blocks.c defines the values for blocks of the program's own
// allocators.

#include "heap/livemap.h"

#include "sys/abi_words.h"
#include "sys/assert.h"
#include "sys/lock.h"
#include "sys/persistent.h"

// A tree has three levels of tables: top, middle and leaf. Each slot of a top
// or middle table has the handle of a table of the next level. A middle table
// has 2^16 slots. The top table covers the remaining bits of a 47-bit address.
// A leaf of by_page has 2^12 slots of 32 bits, one for each page. A leaf of the
// other trees has 2^11 windows of 256 bytes each (struct window).
//
// Only the thread that owns the block at an address uses the address's slot. So
// relaxed loads and stores suffice. If two threads create the same table at the
// same time, one of their two tables stays unused.
#define MIDDLE_BITS 16
#define PAGE_BITS 12
#define PAGE_LEAF_BITS 12
_Static_assert(1u << PAGE_BITS == MPROF_PAGE, "by_page has a slot for a page");
#define WINDOW_BITS 8
#define WINDOW_LEAF_BITS 11

// This array begins a cache line, so that no data that is often written is in
// the same line. The array itself is rarely written after the first blocks.
enum tree { BY_PAGE, BY_16, CUSTOM };
static _Alignas(64) _Atomic uint32_t tops[CUSTOM + 1];

// 16 units of 16 bytes each. A block begins at the begin of a unit. Most heaps
// have few blocks in a window, so a window has room for the slot of one unit.
// If another unit needs a slot, the window gets an array with a slot for each
// unit. The first unit keeps the slot in the window.
struct window {
  _Atomic uint32_t first; // slot of the first unit that has needed one
  // Bits 0 to 3: number of this unit. HAS_FIRST: the unit is set. The other
  // bits: handle of the array; 0: no array.
  _Atomic uint32_t rest;
};
#define UNIT_BITS 4
#define HAS_FIRST (1u << UNIT_BITS)
#define ARRAY_SHIFT (UNIT_BITS + 1)

static inline _Atomic uint32_t *table(uint32_t handle) {
  return mprof_persistent_pointer(handle);
}

// Creates a table of that many bytes, and stores its handle in *handle, which
// is 0. If another thread has stored a handle meanwhile, returns its table.
// Returns NULL if there is no memory.
static MPROF_NOINLINE _Atomic uint32_t *new_table(_Atomic uint32_t *handle,
                                                  size_t bytes) {
  uint32_t h = 0;
  void *mine = mprof_persistent_alloc(bytes);
  if (!mine)
    return NULL;
  if (atomic_compare_exchange_strong(handle, &h, mprof_persistent_handle(mine)))
    return mine;
  return table(h);
}

// Returns the table whose handle is *handle. If *handle is 0 and `make` is
// true, creates a table of that many bytes. Returns NULL if *handle is 0 and no
// table was created.
__attribute__((always_inline)) static inline _Atomic uint32_t *
child(_Atomic uint32_t *handle, size_t bytes, bool make) {
  uint32_t h = atomic_load_explicit(handle, memory_order_acquire);
  if (mprof_likely(h))
    return table(h);
  return make ? new_table(handle, bytes) : NULL;
}

// Makes a slot for a unit of window w, which has none. Other threads may make
// slots for other units at the same time. Returns NULL if there is no memory,
// or no handle for the array.
static MPROF_NOINLINE _Atomic uint32_t *add_to_window(struct window *w,
                                                      uint32_t unit) {
  uint32_t rest = 0;
  if (atomic_compare_exchange_strong(&w->rest, &rest, unit | HAS_FIRST))
    return &w->first;
  _Atomic uint32_t *mine = NULL;
  while (rest >> ARRAY_SHIFT == 0) {
    if (!mine)
      mine = mprof_persistent_alloc(sizeof(uint32_t) << UNIT_BITS);
    const uint32_t handle = mprof_persistent_handle(mine);
    if (!mine || handle << ARRAY_SHIFT >> ARRAY_SHIFT != handle)
      return NULL;
    if (atomic_compare_exchange_strong(&w->rest, &rest,
                                       rest | handle << ARRAY_SHIFT))
      return &mine[unit];
  }
  return &table(rest >> ARRAY_SHIFT)[unit];
}

static inline _Atomic uint32_t *in_window(struct window *w, uint32_t unit,
                                          bool make) {
  const uint32_t rest = atomic_load_explicit(&w->rest, memory_order_acquire);
  if ((rest & (HAS_FIRST | (HAS_FIRST - 1))) == (unit | HAS_FIRST))
    return &w->first;
  if (rest >> ARRAY_SHIFT)
    return &table(rest >> ARRAY_SHIFT)[unit];
  return make ? add_to_window(w, unit) : NULL;
}

// Returns the entry of a leaf for addr. The entries have 2^entry_bits bytes
// each and cover 2^unit_bits bytes of the heap. Returns NULL if there is no
// entry, and none was made.
__attribute__((always_inline)) static inline void *
entry(_Atomic uint32_t *top, uintptr_t addr, unsigned unit_bits,
      unsigned leaf_bits, unsigned entry_bits, bool make) {
  const uintptr_t unit = addr >> unit_bits;
  const unsigned top_bits =
      MPROF_LIVE_ADDRESS_BITS - unit_bits - MIDDLE_BITS - leaf_bits;
  _Atomic uint32_t *p = child(top, sizeof(*p) << top_bits, make);
  if (!p)
    return NULL;
  p = child(&p[unit >> (MIDDLE_BITS + leaf_bits)], sizeof(*p) << MIDDLE_BITS,
            make);
  if (!p)
    return NULL;
  p = child(&p[unit >> leaf_bits & ((1u << MIDDLE_BITS) - 1)],
            (size_t)1 << (leaf_bits + entry_bits), make);
  const uintptr_t i = unit & (((uintptr_t)1 << leaf_bits) - 1);
  return p ? (char *)p + (i << entry_bits) : NULL;
}

__attribute__((always_inline)) static inline _Atomic uint32_t *
slot(enum tree t, uintptr_t addr, bool make) {
  if (t == BY_PAGE)
    return entry(&tops[t], addr, PAGE_BITS, PAGE_LEAF_BITS, 2, make);
  struct window *w =
      entry(&tops[t], addr, WINDOW_BITS, WINDOW_LEAF_BITS, 3, make);
  return w ? in_window(w, addr >> 4 & (HAS_FIRST - 1), make) : NULL;
}

__attribute__((always_inline)) static inline bool
tree_put(enum tree t, uintptr_t addr, uint32_t cell, uint32_t *stale) {
  _Atomic uint32_t *s = slot(t, addr, true);
  if (!s)
    return false;
  *stale = atomic_load_explicit(s, memory_order_relaxed);
  atomic_store_explicit(s, cell, memory_order_relaxed);
  return true;
}

__attribute__((always_inline)) static inline uint32_t
tree_take(enum tree t, uintptr_t addr) {
  _Atomic uint32_t *s = slot(t, addr, false);
  uint32_t cell = s ? atomic_load_explicit(s, memory_order_relaxed) : 0;
  if (cell)
    atomic_store_explicit(s, 0, memory_order_relaxed);
  return cell;
}

// The hash table for blocks whose addresses have no slot in a tree. Each head
// begins a chain of nodes with the same hash. When a block is freed, its node
// is kept for reuse.
#define ODD_HEADS 4096u

struct node {
  struct node *next;
  uintptr_t addr;
  uint32_t cell; // handle; for a custom block: see custom_blocks.c
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

static bool odd_put_locked(uintptr_t addr, bool is_custom, uint32_t cell,
                           uint32_t *stale) {
  if (!odd.heads)
    odd.heads = mprof_persistent_alloc(ODD_HEADS * sizeof(odd.heads[0]));
  if (!odd.heads)
    return false;
  struct node **at = odd_find(addr, is_custom);
  if (*at) {
    *stale = (*at)->cell;
    (*at)->cell = cell;
    return true;
  }
  struct node *n = odd_new_node();
  if (!n)
    return false;
  *n = (struct node){
      .next = *at, .addr = addr, .cell = cell, .is_custom = is_custom};
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
  return n->cell;
}

static bool put_odd(uintptr_t addr, uint32_t cell, uint32_t *stale) {
  mprof_lock_acquire(&mprof_odd_lock);
  bool ok = odd_put_locked(addr, false, cell, stale);
  mprof_lock_release(&mprof_odd_lock);
  return ok;
}

bool mprof_live_put(uintptr_t addr, uint32_t cell, uint32_t *stale) {
  *stale = 0;
  if (mprof_unlikely(mprof_live_needs_guard(addr)))
    return put_odd(addr, cell, stale);
  // In exact mode, the few blocks on page boundaries need no tree of their own.
  if (__mprof_free_mask != 0 && MPROF_IS_ON_PAGE(addr))
    return tree_put(BY_PAGE, addr, cell, stale);
  return tree_put(BY_16, addr, cell, stale);
}

uint32_t mprof_live_take(uintptr_t addr) {
  if (mprof_unlikely(mprof_live_needs_guard(addr))) {
    // The calling thread owns the block, so it sees the block's insertion. If
    // the count is 0, the block is therefore not in the hash table.
    if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
      return 0;
    mprof_lock_acquire(&mprof_odd_lock);
    uint32_t cell = odd_take_locked(addr, false);
    mprof_lock_release(&mprof_odd_lock);
    return cell;
  }
  const uint32_t cell = MPROF_IS_ON_PAGE(addr) ? tree_take(BY_PAGE, addr) : 0;
  return cell != 0 ? cell : tree_take(BY_16, addr);
}

uint32_t mprof_live_custom(uintptr_t addr) {
  if (mprof_likely(!mprof_live_needs_guard(addr))) {
    _Atomic uint32_t *s = slot(CUSTOM, addr, false);
    return s ? atomic_load_explicit(s, memory_order_acquire) : 0;
  }
  uint32_t value = 0;
  if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
    return 0;
  mprof_lock_acquire(&mprof_odd_lock);
  struct node *n = odd.heads ? *odd_find(addr, true) : NULL;
  if (n)
    value = n->cell;
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
  _Atomic uint32_t *s = slot(CUSTOM, addr, value != 0);
  if (!s)
    return value == 0;
  atomic_store_explicit(s, value, memory_order_release);
  return true;
}

void mprof_live_reset(void) {
  for (int t = BY_PAGE; t <= CUSTOM; t++)
    atomic_store(&tops[t], 0);
  mprof_lock_reset(&mprof_odd_lock);
  odd.heads = NULL;
  odd.unused = NULL;
  atomic_store(&odd.count, 0);
}
