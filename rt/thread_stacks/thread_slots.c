// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the slot of a thread by a hash table, and provides memory for the
// stacks of all slots; see thread_slots.h.

#include "thread_stacks/thread_slots.h"

#include "sys/os_linux.h"

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

void mprof_slots_populate(const struct mprof_thread_stacks *s) {
  enum { SHORT = 12 };
  mprof_os_populate(s->stacks, s->slots_len * mprof_slot_stack_bytes(SHORT));
}
