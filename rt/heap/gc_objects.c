// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the collector's counted objects. See gc_objects.h.
//
// The table stores the complement of each object's address, so that the
// collector does not take the stored value for a reference to the object. The
// field `mark` is DEAD if the object was dead at the end of the last
// collection's mark phase.
//
// The table is in persistent memory, which is neither a stack nor data of a
// module. So no collector scans the table. The variables of this file are data
// of a module, which the collector scans. So no variable may hold a pointer to
// an object.

#include "heap/gc_objects.h"

#include "bucket/bucket_map.h"
#include "sys/assert.h"
#include "sys/lock.h"

enum { ALIVE, DEAD };

struct mprof_lock mprof_gc_lock = MPROF_LOCK_INIT(MPROF_RANK_GC);

static struct mprof_bucket_map table; // guarded by gc_lock

size_t mprof_gc_count(void) { return mprof_bucket_map_count(&table); }

static void *revealed(const struct mprof_value *v) { return (void *)~v->word; }

bool mprof_gc_put(uintptr_t addr, uint32_t cell, uint32_t *stale) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  return mprof_bucket_map_put(&table, ~addr, cell, stale);
}

uint32_t mprof_gc_take(uintptr_t addr) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  return mprof_bucket_map_take(&table, ~addr);
}

void mprof_gc_mark_dead(bool (*is_live)(void *object)) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  for (size_t i = 0; i < table.size; i++) {
    struct mprof_value *v = &table.values[i];
    if (v->bucket != 0)
      v->mark = is_live(revealed(v)) ? ALIVE : DEAD;
  }
}

void mprof_gc_sweep(bool (*is_live)(void *object),
                    void (*gone)(void *object, uint32_t cell)) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  size_t i = 0;
  while (i < table.size) {
    struct mprof_value *v = &table.values[i];
    if (v->mark == DEAD && is_live(revealed(v)))
      v->mark = ALIVE;
    if (v->mark == DEAD) {
      gone(revealed(v), v->bucket);
      mprof_value_remove_at(&table, i); // moves a later value to index i
    } else {
      i++;
    }
  }
}

void mprof_gc_objects_reset(void) {
  mprof_lock_reset(&mprof_gc_lock);
  mprof_bucket_map_reset(&table);
}
