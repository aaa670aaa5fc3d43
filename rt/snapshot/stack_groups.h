// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the samples of a snapshot, usually by stack. Buckets that differ in
// size, rate, kind or lock may have equal stacks. This module finds the group
// of a bucket and owns the memory of all groups. The caller defines the type of
// a group (here `struct sum`) and the function that adds a sample to a group
// (here `add`):
//
//   mprof_groups_begin(&g, most, sizeof(struct sum), MPROF_BY_STACK);
//   for each sample: add(mprof_groups_at(&g, sample->bucket), sample);
//   mprof_groups_end(&g);

#ifndef MPROF_RT_SNAPSHOT_STACK_GROUPS_H
#define MPROF_RT_SNAPSHOT_STACK_GROUPS_H

#include "bucket/bucket_map.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_wait.h"
#include "sys/base.h"

// Selects the buckets that belong to the same group.
enum mprof_group_by {
  MPROF_BY_NOTHING, // each call of mprof_groups_at creates a group
  MPROF_BY_STACK,
  MPROF_BY_STACK_AND_LABELS
};

struct mprof_groups {
  char *v; // the groups in order of creation; each group has `each` bytes
  // Pointers to the groups, at first in the order of v. The caller may sort
  // these pointers. `len` is the number of groups.
  void **sorted;
  size_t len, each, mapped_bytes;
  enum mprof_group_by by;
  struct mprof_stack_index index; // freed by mprof_groups_end
};

// Allocates memory for at most `most` groups. The size of a group is `each`
// bytes, which must be a multiple of 8. Returns 0 or -ENOMEM. After success,
// call mprof_groups_end and later mprof_groups_free.
int mprof_groups_begin(struct mprof_groups *g, size_t most, size_t each,
                       enum mprof_group_by by);
// Returns the group of bucket b, and creates this group if needed. A new group
// is zeroed.
void *mprof_groups_at(struct mprof_groups *g, const struct mprof_bucket *b);
// Frees the index, which only mprof_groups_at needs. The groups remain.
void mprof_groups_end(struct mprof_groups *g);
void mprof_groups_free(struct mprof_groups *g);

// Groups the len elements of v without additional memory: sorts them, then
// merges equal neighbours.
// join: adds *next to *into and returns true, or returns false if the two
//   elements belong to different groups.
// Returns the number of elements that remain in v.
size_t mprof_join_neighbours(void **v, size_t len,
                             bool (*comes_before)(const void *, const void *),
                             bool (*join)(void *into, const void *next));

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

// --- threads with equal stacks ---

// Groups the stacks of all threads (thread_stacks.h), so that a profile shows
// equal stacks once, with their number of threads.

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

#endif // MPROF_RT_SNAPSHOT_STACK_GROUPS_H
