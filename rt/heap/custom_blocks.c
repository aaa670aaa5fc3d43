// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the counted blocks of the program's own allocators, by address and by
// arena. An arena is a group of blocks that the program can free together.
//
// Several nested blocks may have the same address, if one allocator takes its
// memory from another. The live map (livemap.h) has one value for each address.
// Usually there is only one block at the address, and it has no arena. In this
// case the value is the handle of the block's cell. Otherwise the value is
// the handle of a record, with the bit IS_RECORD set.
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

#include "heap/custom_blocks.h"

#include "heap/livemap.h"
#include "sys/lock.h"
#include "sys/persistent.h"

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
  if ((a || !b->arena) && mprof_live_set_custom(b->addr, value_of(r)))
    return true;
  drop_record(s, r);
  return false;
}

// Removes the record from the chain of nested blocks at the record's address.
// The chain begins with the outermost block, to which the live map refers.
static void leave_address(const struct record *r) {
  uint32_t value = value_of(r);
  uint32_t top = mprof_live_custom(r->addr);
  if (top == value) {
    mprof_live_set_custom(r->addr, below(r));
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

// --- the interface ---

bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t cell)) {
  uint32_t inner = mprof_live_custom(b->addr);
  if (mprof_unlikely(inner != 0) &&
      (!b->is_outer || levels(inner) >= MPROF_CUSTOM_LEVELS)) {
    for (uint32_t cell; (cell = mprof_custom_take(b->addr)) != 0;)
      stale(cell);
    inner = 0;
  }
  if (inner == 0 && b->arena == 0)
    return mprof_live_set_custom(b->addr, b->cell);
  struct slot *s = slot_of(b->arena ? b->arena : b->addr);
  lock_slot(s);
  bool ok = enter(s, b, inner);
  mprof_lock_release(&s->lock);
  return ok;
}

uint32_t mprof_custom_take(uintptr_t addr) {
  uint32_t value = mprof_live_custom(addr);
  struct record *r = record_of(value);
  if (!r) {
    if (value != 0)
      mprof_live_set_custom(addr, 0);
    return value;
  }
  struct slot *s = &slots[r->slot];
  uint32_t cell = 0;
  lock_slot(s);
  // Before this thread got the lock, another thread may have emptied the
  // block's arena. The record would then be unused or belong to another block.
  if (r->addr == addr && mprof_live_custom(addr) == value) {
    cell = r->cell;
    mprof_live_set_custom(addr, below(r));
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
