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
// with a lock. The value of a heap block is the handle of its cell. The value
// of a custom block, that is, one of the program's own allocators, is this
// handle or that of a record.

#include "heap/livemap.h"

#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"

// A tree has three levels of tables: top, middle and leaf. Each slot of a top
// or middle table has the handle of a table of the next level. A middle table
// has 2^16 slots. The top table covers the remaining bits of a 47-bit address.
// A leaf of by_page has 2^12 slots of 32 bits, one for each page. A leaf of the
// other trees has 2^11 windows of 256 bytes each (struct window).
//
// Only the thread that owns the block at an address changes the address's slot.
// So relaxed loads and stores suffice, except for mprof_live_find. If two
// threads create the same table at the
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
  void *mine = mprof_persistent_alloc(bytes);
  return mine ? mprof_persistent_publish(handle, mine) : NULL;
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
  // Release: mprof_live_find reads the cell in another thread.
  atomic_store_explicit(s, cell, memory_order_release);
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
  uint32_t cell; // handle; for a custom block: see IS_RECORD
  bool is_custom;
};

static struct mprof_lock odd_lock = MPROF_LOCK_INIT(MPROF_RANK_ODD);

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
  mprof_lock_acquire(&odd_lock);
  bool ok = odd_put_locked(addr, false, cell, stale);
  mprof_lock_release(&odd_lock);
  return ok;
}

// Does what mprof_live_put does, for a block on a page boundary.
static MPROF_NOINLINE bool put_on_page(uintptr_t addr, uint32_t cell,
                                       uint32_t *stale) {
  if (__mprof_free_mask != 0)
    return tree_put(BY_PAGE, addr, cell, stale);
  // In exact mode, the few blocks on page boundaries need no tree of their own.
  // The other tree may have an old block that was counted before.
  const bool is_put = tree_put(BY_16, addr, cell, stale);
  if (is_put && *stale == 0)
    *stale = tree_take(BY_PAGE, addr);
  return is_put;
}

bool mprof_live_put(uintptr_t addr, uint32_t cell, uint32_t *stale) {
  *stale = 0;
  if (mprof_unlikely(mprof_live_needs_guard(addr)))
    return put_odd(addr, cell, stale);
  return MPROF_IS_ON_PAGE(addr) ? put_on_page(addr, cell, stale)
                                : tree_put(BY_16, addr, cell, stale);
}

uint32_t mprof_live_take(uintptr_t addr) {
  if (mprof_unlikely(mprof_live_needs_guard(addr))) {
    // The calling thread owns the block, so it sees the block's insertion. If
    // the count is 0, the block is therefore not in the hash table.
    if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
      return 0;
    mprof_lock_acquire(&odd_lock);
    uint32_t cell = odd_take_locked(addr, false);
    mprof_lock_release(&odd_lock);
    return cell;
  }
  const uint32_t cell = MPROF_IS_ON_PAGE(addr) ? tree_take(BY_PAGE, addr) : 0;
  return cell != 0 ? cell : tree_take(BY_16, addr);
}

static uint32_t tree_find(enum tree t, uintptr_t addr) {
  const _Atomic uint32_t *s = slot(t, addr, false);
  return s ? atomic_load_explicit(s, memory_order_acquire) : 0;
}

uint32_t mprof_live_find(uintptr_t addr) {
  if (mprof_live_needs_guard(addr))
    return 0;
  const uint32_t cell = MPROF_IS_ON_PAGE(addr) ? tree_find(BY_PAGE, addr) : 0;
  return cell != 0 ? cell : tree_find(BY_16, addr);
}

// Returns the value of addr in the tree of custom blocks; 0: there is no custom
// block at addr.
static uint32_t custom_value(uintptr_t addr) {
  if (mprof_likely(!mprof_live_needs_guard(addr))) {
    _Atomic uint32_t *s = slot(CUSTOM, addr, false);
    return s ? atomic_load_explicit(s, memory_order_acquire) : 0;
  }
  uint32_t value = 0;
  if (atomic_load_explicit(&odd.count, memory_order_relaxed) == 0)
    return 0;
  mprof_lock_acquire(&odd_lock);
  struct node *n = odd.heads ? *odd_find(addr, true) : NULL;
  if (n)
    value = n->cell;
  mprof_lock_release(&odd_lock);
  return value;
}

static bool odd_set_custom(uintptr_t addr, uint32_t value) {
  uint32_t before;
  bool ok = true;
  mprof_lock_acquire(&odd_lock);
  if (value != 0)
    ok = odd_put_locked(addr, true, value, &before);
  else
    odd_take_locked(addr, true);
  mprof_lock_release(&odd_lock);
  return ok;
}

// Sets that value. Returns false if there is no memory for it.
static bool set_custom_value(uintptr_t addr, uint32_t value) {
  if (mprof_unlikely(mprof_live_needs_guard(addr)))
    return odd_set_custom(addr, value);
  _Atomic uint32_t *s = slot(CUSTOM, addr, value != 0);
  if (!s)
    return value == 0;
  atomic_store_explicit(s, value, memory_order_release);
  return true;
}

// Calls `visit` for the blocks of window w, which begins at addr.
static void each_in_window(const struct window *w, uintptr_t addr,
                           void (*visit)(uintptr_t)) {
  for (uint32_t unit = 0; unit < 1u << UNIT_BITS; unit++) {
    const _Atomic uint32_t *s = in_window((struct window *)w, unit, false);
    if (s && atomic_load_explicit(s, memory_order_acquire))
      visit(addr + ((uintptr_t)unit << 4));
  }
}

// Calls `visit` for the blocks of the leaf with the number `leaf`.
static void each_in_leaf(enum tree t, const void *entries, uintptr_t leaf,
                         void (*visit)(uintptr_t)) {
  if (t == BY_PAGE) {
    const _Atomic uint32_t *slots = entries;
    for (uintptr_t i = 0; i < (uintptr_t)1 << PAGE_LEAF_BITS; i++)
      if (atomic_load_explicit(&slots[i], memory_order_acquire))
        visit((leaf << PAGE_LEAF_BITS | i) << PAGE_BITS);
    return;
  }
  const struct window *windows = entries;
  for (uintptr_t i = 0; i < (uintptr_t)1 << WINDOW_LEAF_BITS; i++)
    each_in_window(&windows[i], (leaf << WINDOW_LEAF_BITS | i) << WINDOW_BITS,
                   visit);
}

// Returns the address of a block of the heap in the hash table, from list *i
// on, or 0.
static uintptr_t next_odd(size_t *i) {
  uintptr_t addr = 0;
  mprof_lock_acquire(&odd_lock);
  for (; odd.heads && *i < ODD_HEADS; ++*i) {
    const struct node *n = odd.heads[*i];
    while (n && n->is_custom)
      n = n->next;
    if (n) {
      addr = n->addr;
      break;
    }
  }
  mprof_lock_release(&odd_lock);
  return addr;
}

void mprof_live_each(void (*visit)(uintptr_t addr)) {
  uintptr_t addr;
  for (size_t i = 0; (addr = next_odd(&i)) != 0;)
    visit(addr);

  for (enum tree t = BY_PAGE; t <= BY_16; t++) {
    const unsigned bits = MPROF_LIVE_ADDRESS_BITS - MIDDLE_BITS -
                          (t == BY_PAGE ? PAGE_BITS + PAGE_LEAF_BITS
                                        : WINDOW_BITS + WINDOW_LEAF_BITS);
    const uint32_t top = atomic_load(&tops[t]);
    for (uintptr_t i = 0; top && i < (uintptr_t)1 << bits; i++) {
      const uint32_t middle = atomic_load(&table(top)[i]);
      for (uintptr_t j = 0; middle && j < (uintptr_t)1 << MIDDLE_BITS; j++) {
        const uint32_t leaf = atomic_load(&table(middle)[j]);
        if (leaf)
          each_in_leaf(t, table(leaf), i << MIDDLE_BITS | j, visit);
      }
    }
  }
}

void mprof_live_reset(void) {
  for (int t = BY_PAGE; t <= CUSTOM; t++)
    atomic_store(&tops[t], 0);
  mprof_lock_reset(&odd_lock);
  odd.heads = NULL;
  odd.unused = NULL;
  atomic_store(&odd.count, 0);
}

// --- custom blocks ---

// Custom blocks are found by address and by arena. An arena is a group of
// blocks that the program can free together.
//
// Several nested blocks may have the same address, if one allocator takes its
// memory from another. The tree of custom blocks has one value for each
// address. Usually there is only one block at the address, and it has no arena.
// In this case the value is the handle of the block's cell. Otherwise the value
// is the handle of a record, with the bit IS_RECORD set.
//
//   live map: address -> cell
//                     -> record --below--> record or cell
//   slot: arena -> arena -> ...
//           |
//           +-> record <-> record <-> ...
//
// Arenas and records belong to the slots of a hash table, and each slot has a
// lock. The record of a block with an arena belongs to the arena's slot. Any
// other record belongs to the slot of its address. A record never moves to
// another slot, even when it is reused. So a thread that finds a record in the
// live map knows which lock guards the record. After the thread has taken this
// lock, it must check that the record still belongs to the same block.

struct arena {
  struct arena *next;
  struct record *first;
  uintptr_t name; // address by which the program identifies the arena
};

struct record {
  // The neighbors in the arena's list of records. In an unused record, next is
  // the next unused record of the slot, and prev has no meaning.
  struct record *next, *prev;
  struct arena *arena; // NULL: the block has no arena
  uintptr_t addr;      // 0: unused
  uint32_t cell;
  // The next inner block at the same address: the handle of its cell, or the
  // handle of its record with IS_RECORD set. 0: no inner block. Atomic, because
  // another thread may change the field when it empties the inner block's
  // arena. That thread holds the lock of the arena's slot, which may be another
  // slot than this record's slot.
  _Atomic uint32_t below;
  uint16_t slot; // index of the record's slot; written once
};
_Static_assert(sizeof(struct record) <= MPROF_PERSISTENT_UNIT,
               "struct record must not be larger than MPROF_PERSISTENT_UNIT");

// A live map value with this bit is the handle of a record plus this bit. A
// value without this bit is the handle of a cell. The handle itself is less
// than this bit: it is the number of a 64-byte unit, and the 64 GiB of
// persistent memory have at most 2^30 units.
#define IS_RECORD (1u << 31)

#define SLOTS 1024u
static struct slot {
  struct mprof_lock lock;        // guards this slot and its records
  _Atomic(struct arena *) first; // list of arenas that have blocks
  struct arena *unused_arenas;
  struct record *unused;
} slots[SLOTS];

static struct slot *slot_of(uintptr_t name) {
  return &slots[name * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static void lock_slot(struct slot *s) {
  s->lock.rank = MPROF_RANK_CUSTOM;
  mprof_lock_acquire(&s->lock);
}

static uint32_t value_of(const struct record *r) {
  return mprof_persistent_handle(r) | IS_RECORD;
}

static struct record *record_of(uint32_t value) {
  return (value & IS_RECORD) != 0 ? mprof_persistent_pointer(value & ~IS_RECORD)
                                  : NULL;
}

static uint32_t below(const struct record *r) {
  return atomic_load_explicit(&r->below, memory_order_relaxed);
}

static unsigned levels(uint32_t value) {
  unsigned n = 0;
  while (value != 0 && n < MPROF_CUSTOM_LEVELS) {
    struct record *r = record_of(value);
    value = r ? below(r) : 0;
    n++;
  }
  return n;
}

// --- under the lock of a slot ---

static struct arena *find_arena(struct slot *s, uintptr_t name) {
  struct arena *a = atomic_load_explicit(&s->first, memory_order_relaxed);
  while (a && a->name != name)
    a = a->next;
  return a;
}

static struct arena *make_arena(struct slot *s, uintptr_t name) {
  struct arena *a = find_arena(s, name);
  if (a)
    return a;
  a = s->unused_arenas;
  if (a)
    s->unused_arenas = a->next;
  else if (!(a = mprof_persistent_alloc(sizeof(*a))))
    return NULL;
  *a = (struct arena){.next =
                          atomic_load_explicit(&s->first, memory_order_relaxed),
                      .name = name};
  atomic_store_explicit(&s->first, a, memory_order_relaxed);
  return a;
}

static void drop_arena(struct slot *s, struct arena *a) {
  struct arena *before = atomic_load_explicit(&s->first, memory_order_relaxed);
  if (before == a) {
    atomic_store_explicit(&s->first, a->next, memory_order_relaxed);
  } else {
    while (before->next != a)
      before = before->next;
    before->next = a->next;
  }
  a->next = s->unused_arenas;
  s->unused_arenas = a;
}

static struct record *new_record(struct slot *s) {
  struct record *r = s->unused;
  if (r)
    s->unused = r->next;
  else if ((r = mprof_persistent_alloc(sizeof(*r))))
    r->slot = (uint16_t)(s - slots);
  return r;
}

static void link(struct record *r, struct arena *a) {
  r->arena = a;
  r->prev = NULL;
  r->next = a ? a->first : NULL;
  if (r->next)
    r->next->prev = r;
  if (a)
    a->first = r;
}

// Removes the record from its arena, and adds the record to the unused records
// of its slot.
static void drop_record(struct slot *s, struct record *r) {
  struct arena *a = r->arena;
  if (r->next)
    r->next->prev = r->prev;
  if (r->prev)
    r->prev->next = r->next;
  else if (a)
    a->first = r->next;
  if (a && !a->first)
    drop_arena(s, a);
  r->addr = 0;
  r->next = s->unused;
  s->unused = r;
}

static bool enter(struct slot *s, const struct mprof_custom_block *b,
                  uint32_t inner) {
  struct record *r = new_record(s);
  if (!r)
    return false;
  struct arena *a = b->arena ? make_arena(s, b->arena) : NULL;
  link(r, a);
  r->addr = b->addr;
  r->cell = b->cell;
  atomic_store_explicit(&r->below, inner, memory_order_relaxed);
  if ((a || !b->arena) && set_custom_value(b->addr, value_of(r)))
    return true;
  drop_record(s, r);
  return false;
}

// Removes the record from the chain of nested blocks at the record's address.
// The chain begins with the outermost block, to which the live map refers.
static void leave_address(const struct record *r) {
  uint32_t value = value_of(r);
  uint32_t top = custom_value(r->addr);
  if (top == value) {
    set_custom_value(r->addr, below(r));
    return;
  }
  struct record *above = record_of(top);
  for (unsigned n = 0; above && n < MPROF_CUSTOM_LEVELS; n++) {
    if (below(above) == value) {
      atomic_store_explicit(&above->below, below(r), memory_order_relaxed);
      return;
    }
    above = record_of(below(above));
  }
}

bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t cell)) {
  uint32_t inner = custom_value(b->addr);
  if (mprof_unlikely(inner != 0) &&
      (!b->is_outer || levels(inner) >= MPROF_CUSTOM_LEVELS)) {
    for (uint32_t cell; (cell = mprof_custom_take(b->addr)) != 0;)
      stale(cell);
    inner = 0;
  }
  if (inner == 0 && b->arena == 0)
    return set_custom_value(b->addr, b->cell);
  struct slot *s = slot_of(b->arena ? b->arena : b->addr);
  lock_slot(s);
  bool ok = enter(s, b, inner);
  mprof_lock_release(&s->lock);
  return ok;
}

uint32_t mprof_custom_take(uintptr_t addr) {
  uint32_t value = custom_value(addr);
  struct record *r = record_of(value);
  if (!r) {
    if (value != 0)
      set_custom_value(addr, 0);
    return value;
  }
  struct slot *s = &slots[r->slot];
  uint32_t cell = 0;
  lock_slot(s);
  // Before this thread got the lock, another thread may have emptied the
  // block's arena. The record would then be unused or belong to another block.
  if (r->addr == addr && custom_value(addr) == value) {
    cell = r->cell;
    set_custom_value(addr, below(r));
    drop_record(s, r);
  }
  mprof_lock_release(&s->lock);
  return cell;
}

void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t cell)) {
  struct slot *s = slot_of(arena);
  // s->first may be read without the lock. The program must synchronize the
  // thread that resets an arena with the threads that have allocated the
  // arena's blocks. So if one of these blocks is counted, this thread sees the
  // arena in the list.
  if (atomic_load_explicit(&s->first, memory_order_relaxed) == NULL)
    return;
  lock_slot(s);
  struct arena *a = find_arena(s, arena);
  for (struct record *r = a ? a->first : NULL, *next; r; r = next) {
    next = r->next;
    gone(r->addr, r->cell);
    leave_address(r);
    drop_record(s, r);
  }
  mprof_lock_release(&s->lock);
}

void mprof_custom_reset(void) {
  for (size_t i = 0; i < SLOTS; i++) {
    struct slot *s = &slots[i];
    // Do not write to a slot that was never used, because a write in a forked
    // child copies the page of memory.
    if (s->lock.rank == 0)
      continue;
    mprof_lock_reset(&s->lock);
    atomic_store_explicit(&s->first, NULL, memory_order_relaxed);
    s->unused_arenas = NULL;
    s->unused = NULL;
  }
}
