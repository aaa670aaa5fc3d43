// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the samples of a snapshot; see snapshot.h. One memory mapping
// holds the groups and the pointers to them. A second mapping holds the index
// that finds the group of a stack.

#include "snapshot/snapshot.h"

#include "bucket/bucket.h"
#include "sys/os.h"
#include "sys/sort.h"

#include <errno.h>

int mprof_groups_begin(struct mprof_groups *g, size_t most, size_t each,
                       enum mprof_group_by by) {
  *g = (struct mprof_groups){.each = each, .by = by};
  if (most == 0)
    return 0;
  g->mapped_bytes = most * (each + sizeof(*g->sorted));
  g->v = mprof_os_map(g->mapped_bytes);
  if (g->v == NULL)
    return -ENOMEM;
  g->sorted = (void **)(g->v + most * each);
  if (by != MPROF_BY_NOTHING &&
      mprof_stack_index_init(&g->index, most,
                             by == MPROF_BY_STACK_AND_LABELS) != 0) {
    mprof_groups_free(g);
    return -ENOMEM;
  }
  return 0;
}

void *mprof_groups_at(struct mprof_groups *g, const struct mprof_bucket *b) {
  struct mprof_stack_slot *slot =
      g->by == MPROF_BY_NOTHING ? NULL : mprof_stack_index_get(&g->index, b);
  if (slot != NULL && slot->value != 0)
    return g->v + (slot->value - 1) * g->each;
  void *group = g->v + g->len * g->each;
  g->sorted[g->len++] = group;
  if (slot != NULL)
    slot->value = g->len;
  return group;
}

void mprof_groups_end(struct mprof_groups *g) {
  mprof_stack_index_free(&g->index);
}

void mprof_groups_free(struct mprof_groups *g) {
  if (g->v != NULL)
    mprof_os_unmap(g->v, g->mapped_bytes);
  g->v = NULL;
}

size_t mprof_join_neighbours(void **v, size_t len,
                             bool (*comes_before)(const void *, const void *),
                             bool (*join)(void *into, const void *next)) {
  size_t left = 0;
  mprof_sort(v, len, comes_before);
  for (size_t i = 0; i < len; i++)
    if (left == 0 || !join(v[left - 1], v[i]))
      v[left++] = v[i];
  return left;
}

void mprof_stack_labels_add(struct mprof_stack_labels *l, uint16_t labels,
                            int64_t weight, bool is_first) {
  if (is_first)
    l->first = labels;
  l->differ |= labels != l->first;
  if (labels != 0 && (l->most == 0 || weight > l->weight)) {
    l->most = labels;
    l->weight = weight;
  }
}
