// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hash tables of buckets: from words to buckets or cells, and from stacks to
// numbers.
//
// struct mprof_bucket_map maps words to buckets or cells. A word identifies a
// value in one of the program's own profiles, which a bucket counts, or an
// object of a garbage collector, which a cell counts (bucket.h). The table lies
// in persistent memory (persistent.h), grows as needed, and reuses the slots of
// removed words.

#ifndef MPROF_RT_BUCKET_BUCKET_MAP_H
#define MPROF_RT_BUCKET_BUCKET_MAP_H

#include "bucket/bucket.h"
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

// --- stacks ---

// struct mprof_stack_index maps each stack to a number. The table is used
// during one snapshot of a profile to group buckets with equal stacks. Such
// buckets exist, because buckets also differ in size, rate, kind or lock.

struct mprof_stack_slot {
  // A bucket with the slot's stack; NULL: unused slot.
  const struct mprof_bucket *bucket;
  // The number of the stack. It is 0 in a new slot, and the caller may set it
  // to any value.
  size_t value;
};

struct mprof_stack_index {
  struct mprof_stack_slot *slots; // array with open addressing
  size_t count;                   // number of slots; a power of two
  bool by_labels;
};

// Makes an empty table for at most `stacks` stacks. If by_labels is true,
// buckets with equal stacks but different labels have separate slots. Returns 0
// or -ENOMEM.
int mprof_stack_index_init(struct mprof_stack_index *ix, size_t stacks,
                           bool by_labels);
// Returns the slot for the stack of b. If the stack has no slot yet, adds a
// slot with value 0.
struct mprof_stack_slot *mprof_stack_index_get(struct mprof_stack_index *ix,
                                               const struct mprof_bucket *b);
void mprof_stack_index_free(struct mprof_stack_index *ix);

#endif // MPROF_RT_BUCKET_BUCKET_MAP_H
