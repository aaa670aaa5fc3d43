// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table from words to buckets. A word identifies a live value or object,
// and its bucket is the bucket in which that value or object was counted. The
// table grows in persistent memory and reuses the slots of removed words.

#ifndef MPROF_RT_BUCKET_BUCKET_MAP_H
#define MPROF_RT_BUCKET_BUCKET_MAP_H

#include "sys/base.h"

struct mprof_value {
  uintptr_t word;
  uint32_t bucket; // persistent handle of the bucket; 0: unused slot
  uint32_t mark;   // for free use by the table's owner; 0 at first
};

// A struct of zeros is an empty table. The owner of the table guards it by a
// lock.
struct mprof_bucket_map {
  struct mprof_value *values; // open addressing
  size_t size;                // a power of two, or 0
  _Atomic size_t count;       // used slots; may be read without the lock
};

// Inserts a word with a bucket, or changes the bucket of a word that is in the
// table. Stores the word's previous bucket in *before; 0: the word was not in
// the table. Sets the word's mark to 0. Returns false if there is no memory.
bool mprof_bucket_map_put(struct mprof_bucket_map *t, uintptr_t word,
                          uint32_t bucket, uint32_t *before);
// Returns the bucket of a word; 0 if the word is not in the table.
uint32_t mprof_bucket_map_find(const struct mprof_bucket_map *t,
                               uintptr_t word);
// Removes a word and returns its bucket; 0 if the word was not in the table.
uint32_t mprof_bucket_map_take(struct mprof_bucket_map *t, uintptr_t word);
// Removes the word in slot i. Another word may move into the slot.
void mprof_value_remove_at(struct mprof_bucket_map *t, size_t i);
static inline size_t mprof_bucket_map_count(const struct mprof_bucket_map *t) {
  return atomic_load_explicit(&t->count, memory_order_relaxed);
}
// Empties the table, in a forked child.
void mprof_bucket_map_reset(struct mprof_bucket_map *t);

#endif // MPROF_RT_BUCKET_BUCKET_MAP_H
