// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table that maps each stack to a number. The table is used during one
// snapshot of a profile to group buckets with equal stacks. Such buckets exist,
// because buckets also differ in size, rate, kind or lock.

#ifndef MPROF_RT_BUCKET_STACK_INDEX_H
#define MPROF_RT_BUCKET_STACK_INDEX_H

#include "bucket/bucket.h"

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

#endif // MPROF_RT_BUCKET_STACK_INDEX_H
