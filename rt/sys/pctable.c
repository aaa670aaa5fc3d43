// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table from return addresses to values; see pctable.h.

#include "sys/pctable.h"

#include "sys/os.h"

// A short program has few addresses, and touches all pages of the first table.
enum { FIRST_COUNT = 512 };

// Returns the slot of pc, or the free slot where pc must be inserted. A
// multiplication (Fibonacci hashing) spreads the addresses, which differ mostly
// in their middle bits.
static struct mprof_pc_slot *probe(struct mprof_pc_slot *slots, size_t count,
                                   mprof_pc pc) {
  size_t i = (size_t)(pc * 0x9e3779b97f4a7c15u >> 20) & (count - 1);
  while (slots[i].pc != 0 && slots[i].pc != pc)
    i = (i + 1) & (count - 1);
  return &slots[i];
}

static bool grow(struct mprof_pc_table *t) {
  size_t count = t->count == 0 ? FIRST_COUNT : 2 * t->count;
  struct mprof_pc_slot *slots = mprof_os_map(count * sizeof(*slots));
  if (slots == NULL)
    return false;
  mprof_os_keep_from_children(slots, count * sizeof(*slots));
  for (size_t i = 0; i < t->count; i++)
    if (t->slots[i].pc != 0)
      *probe(slots, count, t->slots[i].pc) = t->slots[i];
  size_t used = t->used;
  mprof_pc_table_free(t);
  *t = (struct mprof_pc_table){slots, count, used};
  return true;
}

struct mprof_pc_slot *mprof_pc_table_get(struct mprof_pc_table *t,
                                         mprof_pc pc) {
  if (t->used >= t->count / 2 && !grow(t))
    return NULL;
  struct mprof_pc_slot *s = probe(t->slots, t->count, pc);
  if (s->pc == 0) {
    s->pc = pc;
    t->used++;
  }
  return s;
}

bool mprof_pc_table_has(const struct mprof_pc_table *t, mprof_pc pc) {
  return t->used > 0 && probe(t->slots, t->count, pc)->pc == pc;
}

uint64_t mprof_pc_table_value(const struct mprof_pc_table *t, mprof_pc pc) {
  return t->used > 0 ? probe(t->slots, t->count, pc)->value : 0;
}

void mprof_pc_table_free(struct mprof_pc_table *t) {
  if (t->slots != NULL)
    mprof_os_unmap(t->slots, t->count * sizeof(*t->slots));
  *t = (struct mprof_pc_table){0};
}
