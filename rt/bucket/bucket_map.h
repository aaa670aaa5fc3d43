// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table that maps words to buckets or cells. A word identifies a value
// in one of the program's own profiles, which a bucket counts, or an object of
// a garbage collector, which a cell counts (counts.h). The table lies in
// persistent memory (persistent.h), grows as needed, and reuses the slots of
// removed words.

#ifndef MPROF_RT_BUCKET_BUCKET_MAP_H
#define MPROF_RT_BUCKET_BUCKET_MAP_H

#include "sys/base.h"

struct mprof_value {
  uintptr_t word;
  uint32_t bucket; // handle of the bucket or cell; 0: unused slot
  uint32_t mark;   // for any use by the table's owner; 0 after insertion
};

// A table. If all bytes are 0, the table is empty. The owner of the table must
// guard it by a lock.
struct mprof_bucket_map {
  struct mprof_value *values; // array of slots, with open addressing
  size_t size;                // number of slots: a power of two, or 0
  _Atomic size_t count; // number of used slots; may be read without the lock
};

// Inserts `word` with `bucket`, or changes the bucket of `word` if `word` is
// already in the table. Sets the word's mark to 0. Stores the previous bucket
// of `word` in *before, or 0 if `word` was not in the table. Returns false if
// there is no memory.
bool mprof_bucket_map_put(struct mprof_bucket_map *t, uintptr_t word,
                          uint32_t bucket, uint32_t *before);
// Returns the bucket of `word`, or 0 if `word` is not in the table.
uint32_t mprof_bucket_map_find(const struct mprof_bucket_map *t,
                               uintptr_t word);
// Removes `word` and returns its bucket. Returns 0 if `word` was not in the
// table.
uint32_t mprof_bucket_map_take(struct mprof_bucket_map *t, uintptr_t word);
// Removes the word in slot i. Another word may move into slot i.
void mprof_value_remove_at(struct mprof_bucket_map *t, size_t i);
static inline size_t mprof_bucket_map_count(const struct mprof_bucket_map *t) {
  return atomic_load_explicit(&t->count, memory_order_relaxed);
}
// Empties the table. Call this in a forked child.
void mprof_bucket_map_reset(struct mprof_bucket_map *t);

#endif // MPROF_RT_BUCKET_BUCKET_MAP_H
