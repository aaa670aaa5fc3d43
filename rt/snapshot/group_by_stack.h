// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over the buckets of equal stacks.

#ifndef MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H
#define MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_wait.h"

// Whose labels a stack's samples have.
struct mprof_stack_labels {
  uint16_t most; // the set with the greatest sample; 0: none has labels
  bool differ;   // not all have these
  uint16_t first;
  int64_t weight; // of that sample
};

struct mprof_stack_sum {
  const struct mprof_bucket *bucket; // one with the stack
  struct mprof_mem_estimate sum;
  uint64_t alloc_samples, inuse_samples;
  struct mprof_stack_labels labels;
};
struct mprof_stacks {
  struct mprof_stack_sum *v;
  struct mprof_stack_sum **sorted; // len pointers into v, in any order
  size_t len, mapped_bytes;
  struct mprof_mem_estimate total;
  uint64_t samples, sample_frees;
};
// 0 or ENOMEM. Free it with mprof_stacks_free.
int mprof_stacks_group(struct mprof_stacks *g,
                       const struct mprof_mem_snapshot *s);
void mprof_stacks_free(struct mprof_stacks *g);
// Why a snapshot has no samples, for people; NULL if it has some.
const char *mprof_stacks_why_none(const struct mprof_stacks *g, uint64_t rate);

// The same of the heapx profile, of stacks that it has anything of.
struct mprof_heapx_sum {
  const struct mprof_bucket *bucket; // one with the stack
  struct mprof_heapx_estimate sum;
};
struct mprof_heapx_stacks {
  struct mprof_heapx_sum *v;
  struct mprof_heapx_sum **sorted; // len pointers into v, in any order
  size_t len, mapped_bytes;
  struct mprof_heapx_estimate total;
};
// 0 or ENOMEM. Free it with mprof_heapx_stacks_free.
int mprof_heapx_stacks_group(struct mprof_heapx_stacks *g,
                             const struct mprof_mem_snapshot *s);
void mprof_heapx_stacks_free(struct mprof_heapx_stacks *g);
// Whether there is anything to tell.
bool mprof_heapx_has_any(const struct mprof_heapx_estimate *e);

struct mprof_wait_sum {
  const struct mprof_bucket *bucket; // that of the lock waited for the longest
  int64_t count, cycles;
  size_t locks; // different ones that are known
  struct mprof_stack_labels labels;
};
struct mprof_wait_stacks {
  struct mprof_wait_sum *v;
  struct mprof_wait_sum **sorted; // len pointers into v, most cycles first
  size_t len, mapped_bytes;
  int64_t count, cycles; // of all
};
// Of a snapshot that is not by stack; by_labels: a sum for each set of labels
// that a stack has. 0 or ENOMEM. Free it with mprof_wait_stacks_free.
int mprof_wait_stacks_group(struct mprof_wait_stacks *g,
                            const struct mprof_wait_snapshot *s,
                            bool by_labels);
void mprof_wait_stacks_free(struct mprof_wait_stacks *g);

#endif // MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H
