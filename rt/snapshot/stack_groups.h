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

// Adds a sample of the stack. `labels` is the label set of the sample, and
// `weight` are the sample's bytes or cycles.
void mprof_stack_labels_add(struct mprof_stack_labels *l, uint16_t labels,
                            int64_t weight, bool is_first);

#endif // MPROF_RT_SNAPSHOT_STACK_GROUPS_H
