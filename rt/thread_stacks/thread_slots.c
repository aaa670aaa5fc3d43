// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the slot of a thread by a hash table; see thread_slots.h.

#include "thread_stacks/thread_slots.h"

size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid) {
  return (uint32_t)tid * 2654435761u & (s->index_size - 1);
}

struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid) {
  size_t i = mprof_slot_place(s, tid);
  for (; s->index[i] != 0; i = (i + 1) & (s->index_size - 1)) {
    struct mprof_thread_slot *slot = mprof_slot_at(s, s->index[i] - 1);
    if (slot->tid == tid)
      return slot;
  }
  return NULL;
}
