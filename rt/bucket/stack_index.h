// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table that maps each stack to one word. It is used during one snapshot to
// group buckets, because buckets that differ in size, rate, kind or lock may
// have equal stacks.

#ifndef MPROF_RT_BUCKET_STACK_INDEX_H
#define MPROF_RT_BUCKET_STACK_INDEX_H

#include "bucket/bucket.h"

struct mprof_stack_slot {
  const struct mprof_bucket *bucket; // a bucket with this stack; NULL: unused
  size_t value;                      // the word, for the caller's use
};

struct mprof_stack_index {
  struct mprof_stack_slot *slots; // open addressing
  size_t count;                   // number of slots, a power of two
  bool by_labels;
};

// Makes an empty table. Returns 0 or -ENOMEM.
// stacks: maximum number of stacks.
// by_labels: equal stacks with different labels have different slots.
int mprof_stack_index_init(struct mprof_stack_index *ix, size_t stacks,
                           bool by_labels);
// Returns the slot of b's stack. If the stack has no slot yet, adds a slot with
// value 0.
struct mprof_stack_slot *mprof_stack_index_get(struct mprof_stack_index *ix,
                                               const struct mprof_bucket *b);
void mprof_stack_index_free(struct mprof_stack_index *ix);

#endif // MPROF_RT_BUCKET_STACK_INDEX_H
