// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers when the counted blocks in use were allocated. See observers.h.

#include "heap/observers.h"

#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"

// A block in a hash table. A record whose block was freed is used again.
struct birth {
  struct birth *next;
  uintptr_t key; // address << 1 | is_custom
  uint64_t ticks;
};

// The table has parts with a lock each, so that threads rarely wait. A part
// doubles its chains when it has more blocks than chains. The old chains are
// lost, which together are smaller than the new ones.
enum { PART_BITS = 6, PARTS = 1 << PART_BITS, FIRST_CHAINS = 64, BATCH = 64 };

struct part {
  _Alignas(64) struct mprof_lock lock;
  // The fields below are guarded by lock.
  struct birth **chains;
  size_t chain_count; // a power of 2
  size_t count;       // of blocks
  struct birth *unused;
};

#define EIGHT(x) x, x, x, x, x, x, x, x
#define PART {.lock = MPROF_LOCK_INIT(MPROF_RANK_BIRTHS)}
static struct part parts[PARTS] = {EIGHT(PART), EIGHT(PART), EIGHT(PART),
                                   EIGHT(PART), EIGHT(PART), EIGHT(PART),
                                   EIGHT(PART), EIGHT(PART)};

static uintptr_t key_of(const void *ptr, bool is_custom) {
  return (uintptr_t)ptr << 1 | is_custom;
}

static uint64_t hash_of(uintptr_t key) {
  return key * UINT64_C(0x9e3779b97f4a7c15);
}

static struct part *part_of(uintptr_t key) {
  return &parts[hash_of(key) >> (64 - PART_BITS)];
}

// Returns the link to the block, or the link at the end of its chain.
static struct birth **find_locked(struct part *p, uintptr_t key) {
  struct birth **at = &p->chains[hash_of(key) >> 24 & (p->chain_count - 1)];
  while (*at && (*at)->key != key)
    at = &(*at)->next;
  return at;
}

static void move_locked(struct part *p, struct birth **old, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (struct birth *b = old[i], *next; b; b = next) {
      next = b->next;
      b->next = NULL;
      *find_locked(p, b->key) = b;
    }
}

// Makes room for one block more. Returns false if there is no memory. If there
// is none for more chains, the chains become longer.
static bool make_room_locked(struct part *p) {
  if (p->count == p->chain_count) {
    struct birth **old = p->chains;
    const size_t before = p->chain_count;
    const size_t count = before ? 2 * before : FIRST_CHAINS;
    struct birth **chains =
        mprof_persistent_try_alloc(count * sizeof(struct birth *));
    if (chains) {
      p->chains = chains;
      p->chain_count = count;
      move_locked(p, old, before);
    }
  }
  if (p->chains && !p->unused) {
    struct birth *batch =
        mprof_persistent_try_alloc(BATCH * sizeof(struct birth));
    for (int i = 0; batch && i < BATCH; i++) {
      batch[i].next = p->unused;
      p->unused = &batch[i];
    }
  }
  return p->chains && p->unused;
}

static void put_locked(struct part *p, uintptr_t key, uint64_t ticks) {
  struct birth **at = p->chains ? find_locked(p, key) : NULL;
  if (at && *at) {
    (*at)->ticks = ticks;
    return;
  }
  if (!make_room_locked(p))
    return;
  struct birth *b = p->unused;
  p->unused = b->next;
  *b = (struct birth){.key = key, .ticks = ticks};
  *find_locked(p, key) = b;
  p->count++;
}

static uint64_t take_locked(struct part *p, uintptr_t key) {
  struct birth **at = p->chains ? find_locked(p, key) : NULL;
  struct birth *b = at ? *at : NULL;
  if (!b)
    return 0;
  *at = b->next;
  b->next = p->unused;
  p->unused = b;
  p->count--;
  return b->ticks;
}

void mprof_births_put(const void *ptr, bool is_custom, uint64_t ticks) {
  const uintptr_t key = key_of(ptr, is_custom);
  struct part *p = part_of(key);
  mprof_lock_acquire(&p->lock);
  put_locked(p, key, ticks);
  mprof_lock_release(&p->lock);
}

uint64_t mprof_births_take(const void *ptr, bool is_custom) {
  const uintptr_t key = key_of(ptr, is_custom);
  struct part *p = part_of(key);
  mprof_lock_acquire(&p->lock);
  const uint64_t ticks = take_locked(p, key);
  mprof_lock_release(&p->lock);
  return ticks;
}

void mprof_births_reset(void) {
  for (int i = 0; i < PARTS; i++) {
    mprof_lock_reset(&parts[i].lock);
    parts[i].chains = NULL;
    parts[i].chain_count = parts[i].count = 0;
    parts[i].unused = NULL;
  }
}
