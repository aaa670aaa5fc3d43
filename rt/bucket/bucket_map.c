// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hash tables of buckets, see bucket.h. The table of words uses open
// addressing with linear probing. When an entry is removed, later entries move
// into the gap. Therefore the table has no tombstones, and need not be rebuilt
// to remove tombstones.

#include "bucket/bucket.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"

#include <errno.h>
#include <string.h>

#define FIRST_SIZE 1024u // a power of two; each larger table has twice the size

static size_t home_of(const struct mprof_bucket_map *t, uintptr_t word) {
  return word * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (t->size - 1);
}

static void set_count(struct mprof_bucket_map *t, size_t n) {
  atomic_store_explicit(&t->count, n, memory_order_relaxed);
}

// Returns the slot that holds `word`. If no slot holds `word`, returns the
// unused slot where `word` would be inserted. An unused slot always exists,
// because the table is never full.
static struct mprof_value *find(const struct mprof_bucket_map *t,
                                uintptr_t word) {
  size_t i = home_of(t, word);
  while (t->values[i].bucket != 0 && t->values[i].word != word)
    i = (i + 1) & (t->size - 1);
  return &t->values[i];
}

static bool grow(struct mprof_bucket_map *t) {
  struct mprof_value *old = t->values;
  size_t old_size = t->size;
  size_t size = old_size ? 2 * old_size : FIRST_SIZE;
  struct mprof_value *values = mprof_persistent_alloc(size * sizeof(values[0]));
  if (!values)
    return false;
  t->values = values;
  t->size = size;
  for (size_t i = 0; i < old_size; i++)
    if (old[i].bucket != 0)
      *find(t, old[i].word) = old[i];
  return true;
}

bool mprof_bucket_map_put(struct mprof_bucket_map *t, uintptr_t word,
                          uint32_t bucket, uint32_t *before) {
  size_t count = mprof_bucket_map_count(t);
  *before = 0;
  if (count >= t->size / 4 * 3 && !grow(t))
    return false;
  struct mprof_value *v = find(t, word);
  *before = v->bucket;
  if (v->bucket == 0)
    set_count(t, count + 1);
  MPROF_ASSERT(mprof_bucket_map_count(t) < t->size); // never full
  *v = (struct mprof_value){.word = word, .bucket = bucket};
  return true;
}

uint32_t mprof_bucket_map_find(const struct mprof_bucket_map *t,
                               uintptr_t word) {
  return t->size == 0 ? 0 : find(t, word)->bucket;
}

// Removes the entry in slot i, which leaves a gap. A search begins at an
// entry's home slot and ends at the first unused slot. So each later entry
// moves into the gap, unless its home slot lies after the gap. The slot that a
// moved entry has left is the next gap.
void mprof_value_remove_at(struct mprof_bucket_map *t, size_t i) {
  MPROF_ASSERT(i < t->size && t->values[i].bucket != 0);
  size_t mask = t->size - 1;
  set_count(t, mprof_bucket_map_count(t) - 1);
  for (size_t j = (i + 1) & mask; t->values[j].bucket != 0;
       j = (j + 1) & mask) {
    size_t home = home_of(t, t->values[j].word);
    if (((j - home) & mask) < ((j - i) & mask))
      continue;
    t->values[i] = t->values[j];
    i = j;
  }
  t->values[i] = (struct mprof_value){0};
}

uint32_t mprof_bucket_map_take(struct mprof_bucket_map *t, uintptr_t word) {
  if (t->size == 0)
    return 0;
  struct mprof_value *v = find(t, word);
  uint32_t bucket = v->bucket;
  if (bucket != 0)
    mprof_value_remove_at(t, (size_t)(v - t->values));
  return bucket;
}

void mprof_bucket_map_reset(struct mprof_bucket_map *t) {
  t->values = NULL;
  t->size = 0;
  set_count(t, 0);
}

// --- stacks ---

// The table of stacks uses open addressing, is at most half full, and never
// grows.

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
