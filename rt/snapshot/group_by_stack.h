// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the samples of a snapshot, or the stacks of all threads, by stack, for
// output that people read. Several buckets may have equal stacks, because a
// bucket's key also has the block size and the sampling rate (heap) or the lock
// (waits).

#ifndef MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H
#define MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H

#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_wait.h"
#include "snapshot/stack_groups.h"

// The label sets of the samples that have the same stack.
struct mprof_stack_labels {
  // Label set of the largest sample with labels; 0: no sample has labels.
  uint16_t most;
  bool differ;    // true: the samples have different label sets
  uint16_t first; // label set of the first sample
  int64_t weight; // bytes or cycles of the sample whose label set is `most`
};

// --- the heap profile ---

struct mprof_heap_sum {
  const struct mprof_bucket *bucket; // a bucket with the stack of this group
  struct mprof_mem_estimate sum;
  struct mprof_mem_variance variance;
  uint64_t alloc_samples, inuse_samples;
  struct mprof_stack_labels labels;
};
struct mprof_heap_groups {
  struct mprof_groups groups;
  // Pointers to the len groups, in any order. The report sorts the pointers.
  struct mprof_heap_sum **sorted;
  size_t len;
  struct mprof_mem_estimate total;
  struct mprof_mem_variance variance; // of the total
  uint64_t samples, sample_frees;
};
// Groups the samples of s by stack, and stores the groups in *g. Returns 0 or
// -ENOMEM. Free *g with mprof_heap_groups_free.
int mprof_heap_groups_make(struct mprof_heap_groups *g,
                           const struct mprof_mem_snapshot *s);
void mprof_heap_groups_free(struct mprof_heap_groups *g);
// Returns the reason why g has no samples, as a text for people. Returns NULL
// if g has samples.
// rate: current sampling rate of the heap profile, in bytes.
const char *mprof_heap_groups_why_none(const struct mprof_heap_groups *g,
                                       uint64_t rate);

// --- the heapx profile ---

struct mprof_heapx_sum {
  const struct mprof_bucket *bucket; // a bucket with the stack of this group
  struct mprof_heapx_estimate sum;
};
struct mprof_heapx_groups {
  struct mprof_groups groups;
  // Pointers to the len groups, in any order. The report sorts the pointers.
  struct mprof_heapx_sum **sorted;
  size_t len;
  struct mprof_heapx_estimate total;
};
// Groups the samples of s by stack, and stores the groups in *g. Skips samples
// whose heapx values are all 0 (mprof_heapx_has_any). Returns 0 or -ENOMEM.
// Free *g with mprof_heapx_groups_free.
int mprof_heapx_groups_make(struct mprof_heapx_groups *g,
                            const struct mprof_mem_snapshot *s);
void mprof_heapx_groups_free(struct mprof_heapx_groups *g);
// Returns whether the heapx profile shows the estimate e, because e has a value
// other than 0.
bool mprof_heapx_has_any(const struct mprof_heapx_estimate *e);

// --- the block profile and the mutex profile ---

struct mprof_wait_sum {
  // The bucket with this stack whose lock had the longest waits in total.
  const struct mprof_bucket *bucket;
  int64_t count, cycles;
  size_t locks; // number of different known locks
  struct mprof_stack_labels labels;
};
struct mprof_wait_groups {
  struct mprof_groups groups;
  struct mprof_wait_sum **sorted; // len pointers, most cycles first
  size_t len;
  int64_t count, cycles; // sums over all stacks
};
// Groups the samples of s by stack, and stores the groups in *g. The call of
// mprof_wait_snapshot_take must have had by_stack == false, so that the samples
// of s still differ by lock.
// by_labels: true: one group for each stack and label set; false: one group for
//   each stack.
// Returns 0 or -ENOMEM. Free *g with mprof_wait_groups_free.
int mprof_wait_groups_make(struct mprof_wait_groups *g,
                           const struct mprof_wait_snapshot *s, bool by_labels);
void mprof_wait_groups_free(struct mprof_wait_groups *g);

// --- the stacks of all threads (thread_stacks.h) ---

struct mprof_thread_stacks;

// Merges slots of s that have equal stacks and labels and are equal in three
// fields (thread_slots.h): the object for which a stuck thread waits
// (stack.object), how the stack was read (source), and how certain it is that
// the thread is stuck (grade). A slot has the stack of one thread. Sets the
// count of each remaining slot to its number of threads. Then sorts the slots
// by count, largest first.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);

// Subtracts the counts of `before` from those of `after`. Both are grouped by
// mprof_thread_stacks_group. *d refers to slots of both, whose counts this
// function changes. A negative count is a number modulo 2^64. Returns 0 or
// -ENOMEM. Free d->v with mprof_thread_stacks_free_difference, before the two
// others are freed.
int mprof_thread_stacks_subtract(struct mprof_thread_stacks *d,
                                 const struct mprof_thread_stacks *after,
                                 const struct mprof_thread_stacks *before);
void mprof_thread_stacks_free_difference(struct mprof_thread_stacks *d);

#endif // MPROF_RT_SNAPSHOT_GROUP_BY_STACK_H
