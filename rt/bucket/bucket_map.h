// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table from words to buckets. It says in which bucket a live value or
// object was counted. It grows in persistent memory; slots of removed words are
// reused.

#ifndef MPROF_RT_BUCKET_BUCKET_MAP_H
#define MPROF_RT_BUCKET_BUCKET_MAP_H

#include "sys/base.h"

struct mprof_value {
  uintptr_t word;
  uint32_t bucket; // handle; 0: unused
  uint32_t mark;   // for the owner's use; 0 at first
};

// An all-zero struct is an empty table. A lock of the table's owner guards it.
struct mprof_bucket_map {
  struct mprof_value *values; // open addressing
  size_t size;                // a power of two, or 0
  _Atomic size_t count;       // of used slots; may be read without the lock
};

// Enters a word with a bucket, or changes the bucket of an entered word. Stores
// the previous bucket in *before, 0 if there was none. The mark becomes 0.
// Returns false if there is no memory.
bool mprof_bucket_map_put(struct mprof_bucket_map *t, uintptr_t word,
                          uint32_t bucket, uint32_t *before);
// Returns the bucket of a word, 0 if the word is not entered.
uint32_t mprof_bucket_map_find(const struct mprof_bucket_map *t,
                               uintptr_t word);
// Removes a word and returns its bucket, 0 if the word was not entered.
uint32_t mprof_bucket_map_take(struct mprof_bucket_map *t, uintptr_t word);
// Removes the word in slot i. Another word may move into the slot.
void mprof_value_remove_at(struct mprof_bucket_map *t, size_t i);
static inline size_t mprof_bucket_map_count(const struct mprof_bucket_map *t) {
  return atomic_load_explicit(&t->count, memory_order_relaxed);
}
// Empties the table, in a forked child.
void mprof_bucket_map_reset(struct mprof_bucket_map *t);

#endif // MPROF_RT_BUCKET_BUCKET_MAP_H
