// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table from stacks to a word each, for the time of one snapshot: buckets
// that differ in size, rate, kind or lock may have one stack.

#ifndef MPROF_RT_BUCKET_STACK_INDEX_H
#define MPROF_RT_BUCKET_STACK_INDEX_H

#include "bucket/bucket.h"

struct mprof_stack_slot {
  const struct mprof_bucket *bucket; // the first with its stack; NULL: free
  size_t value;
};

struct mprof_stack_index {
  struct mprof_stack_slot *slots; // open addressing
  size_t count;                   // a power of two
  bool by_labels;
};

// Makes one for at most so many stacks; by_labels: one with other labels is
// another stack. 0 or -ENOMEM.
int mprof_stack_index_init(struct mprof_stack_index *ix, size_t stacks,
                           bool by_labels);
// The slot of b's stack; a new one has value 0.
struct mprof_stack_slot *mprof_stack_index_get(struct mprof_stack_index *ix,
                                               const struct mprof_bucket *b);
void mprof_stack_index_free(struct mprof_stack_index *ix);

#endif // MPROF_RT_BUCKET_STACK_INDEX_H
