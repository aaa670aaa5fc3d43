// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See gc_objects.h. Open addressing with linear probing; what follows a removed
// entry moves up, so there are no tombstones and the table needs no rebuilding.
// It only grows, in persistent memory, which no collector scans: it is
// neither a stack nor data of a module. (The variables of this file are, hence
// no pointer to an object is kept in any.)

#include "gc_objects.h"

struct entry {
  uintptr_t hidden; // complement of the address; 0: unused
  uint32_t bucket;
  uint32_t is_dead; // was so when the last collection had marked
};

#define FIRST_SIZE 1024u // a power of two, as all sizes

struct mprof_lock mprof_gc_lock = MPROF_LOCK_INIT(MPROF_RANK_GC);

static struct {
  struct entry *entries;
  size_t size;
  _Atomic size_t count; // of used entries; read without the lock
} table;                // guarded by gc_lock

size_t mprof_gc_count(void) {
  return atomic_load_explicit(&table.count, memory_order_relaxed);
}

static void set_count(size_t n) {
  atomic_store_explicit(&table.count, n, memory_order_relaxed);
}

static void *revealed(const struct entry *e) { return (void *)~e->hidden; }

static size_t home_of(uintptr_t hidden) {
  return (hidden >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (table.size - 1);
}

// The entry of an object, or the unused one where it would be. There always is
// one that is unused.
static struct entry *find(uintptr_t hidden) {
  size_t i = home_of(hidden);
  while (table.entries[i].hidden != 0 && table.entries[i].hidden != hidden)
    i = (i + 1) & (table.size - 1);
  return &table.entries[i];
}

static bool grow(void) {
  struct entry *old = table.entries;
  size_t old_size = table.size;
  size_t size = old_size ? 2 * old_size : FIRST_SIZE;
  struct entry *entries = mprof_persistent_alloc(size * sizeof(entries[0]));
  if (!entries)
    return false;
  table.entries = entries;
  table.size = size;
  for (size_t i = 0; i < old_size; i++)
    if (old[i].hidden != 0)
      *find(old[i].hidden) = old[i];
  return true;
}

bool mprof_gc_put(uintptr_t addr, uint32_t bucket, uint32_t *stale) {
  size_t count = mprof_gc_count();
  *stale = 0;
  if (count >= table.size / 4 * 3 && !grow())
    return false;
  struct entry *e = find(~addr);
  if (e->hidden != 0)
    *stale = e->bucket;
  else
    set_count(count + 1);
  *e = (struct entry){.hidden = ~addr, .bucket = bucket};
  return true;
}

// Closes the gap at i: an entry further on moves there unless its home lies
// between, and leaves the next gap.
static void remove_at(size_t i) {
  size_t mask = table.size - 1;
  set_count(mprof_gc_count() - 1);
  for (size_t j = (i + 1) & mask; table.entries[j].hidden != 0;
       j = (j + 1) & mask) {
    size_t home = home_of(table.entries[j].hidden);
    if (((j - home) & mask) < ((j - i) & mask))
      continue;
    table.entries[i] = table.entries[j];
    i = j;
  }
  table.entries[i] = (struct entry){0};
}

uint32_t mprof_gc_take(uintptr_t addr) {
  if (table.size == 0)
    return 0;
  struct entry *e = find(~addr);
  uint32_t bucket = e->bucket;
  if (e->hidden != 0)
    remove_at((size_t)(e - table.entries));
  return bucket;
}

void mprof_gc_mark_dead(bool (*is_live)(void *object)) {
  for (size_t i = 0; i < table.size; i++)
    if (table.entries[i].hidden != 0)
      table.entries[i].is_dead = !is_live(revealed(&table.entries[i]));
}

void mprof_gc_sweep(bool (*is_live)(void *object),
                    void (*gone)(uint32_t bucket)) {
  size_t i = 0;
  while (i < table.size) {
    struct entry *e = &table.entries[i];
    if (e->is_dead && is_live(revealed(e)))
      e->is_dead = false;
    if (e->is_dead) {
      gone(e->bucket);
      remove_at(i); // what comes into its place is next
    } else {
      i++;
    }
  }
}

void mprof_gc_objects_reset(void) {
  mprof_lock_reset(&mprof_gc_lock);
  table.entries = NULL;
  table.size = 0;
  set_count(0);
}
