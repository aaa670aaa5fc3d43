// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A temporary hash table that groups buckets by stack, or by stack and labels.
// The table uses open addressing, is at most half full, and never grows. See
// stack_index.h.

#include "bucket/stack_index.h"

#include "bucket/bucket.h"
#include "sys/os_memory.h"

#include <errno.h>
#include <string.h>

static bool is_same_stack(const struct mprof_bucket *a,
                          const struct mprof_bucket *b) {
  if (a == b)
    return true;
  return a->stack_len == b->stack_len && a->end == b->end &&
         a->skip == b->skip && mprof_bucket_gone(a) == mprof_bucket_gone(b) &&
         memcmp(a->stack, b->stack, a->stack_len * sizeof(a->stack[0])) == 0;
}

int mprof_stack_index_init(struct mprof_stack_index *ix, size_t stacks,
                           bool by_labels) {
  ix->by_labels = by_labels;
  ix->count = 16;
  while (ix->count < 2 * stacks)
    ix->count *= 2;
  ix->slots = mprof_os_map(ix->count * sizeof(*ix->slots));
  return ix->slots == NULL ? -ENOMEM : 0;
}

struct mprof_stack_slot *mprof_stack_index_get(struct mprof_stack_index *ix,
                                               const struct mprof_bucket *b) {
  const size_t mask = ix->count - 1;
  const uint16_t labels = ix->by_labels ? b->labels : 0;
  // A library that is loaded many times may have the same stack each time, but
  // with another number in `gone`.
  const size_t rest = labels | (size_t)mprof_bucket_gone(b) << 16;
  size_t i = mprof_bucket_hash(b->stack, b->stack_len, rest) & mask;
  for (const struct mprof_bucket *at; (at = ix->slots[i].bucket) != NULL;
       i = (i + 1) & mask)
    if (is_same_stack(at, b) && (!ix->by_labels || at->labels == labels))
      break;
  if (ix->slots[i].bucket == NULL)
    ix->slots[i].bucket = b;
  return &ix->slots[i];
}

void mprof_stack_index_free(struct mprof_stack_index *ix) {
  if (ix->slots != NULL)
    mprof_os_unmap(ix->slots, ix->count * sizeof(*ix->slots));
  ix->slots = NULL;
}
