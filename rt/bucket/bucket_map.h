// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table from words to buckets: which bucket something that is live was
// counted in. It grows, in persistent memory, and its places are used again.

#ifndef MPROF_RT_BUCKET_BUCKET_MAP_H
#define MPROF_RT_BUCKET_BUCKET_MAP_H

#include "sys/base.h"

struct mprof_value {
  uintptr_t word;
  uint32_t bucket; // handle; 0: unused
  uint32_t mark;   // the owner's; 0 at first
};

// All zeros is an empty table. Guarded by a lock of its owner's.
struct mprof_value_table {
  struct mprof_value *values; // open addressing
  size_t size;                // a power of two, or 0
  _Atomic size_t count;       // of used ones; may be read without the lock
};

// Adds a word that may be there already: *before gets its bucket then, else 0.
// It has this bucket from now on, and no mark. False when there is no memory.
bool mprof_value_put(struct mprof_value_table *t, uintptr_t word,
                     uint32_t bucket, uint32_t *before);
// The bucket of a word, 0 if it is not there.
uint32_t mprof_value_find(const struct mprof_value_table *t, uintptr_t word);
// The same, and removes it.
uint32_t mprof_value_take(struct mprof_value_table *t, uintptr_t word);
// Removes what is in place i, where another may be afterwards.
void mprof_value_remove_at(struct mprof_value_table *t, size_t i);
static inline size_t mprof_value_count(const struct mprof_value_table *t) {
  return atomic_load_explicit(&t->count, memory_order_relaxed);
}
// In a forked child.
void mprof_value_table_reset(struct mprof_value_table *t);

#endif // MPROF_RT_BUCKET_BUCKET_MAP_H
