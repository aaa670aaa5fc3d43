// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the slot of a thread by a hash table, and provides memory for the
// stacks of all slots; see thread_slots.h.

#include "thread_stacks/thread_slots.h"

#include "sys/os_memory.h"

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
  const size_t used = __atomic_load_n(&s->stacks_used, __ATOMIC_RELAXED) &
                      ~((size_t)MPROF_PAGE - 1);
  char *begin = s->stacks + used, *end = (char *)s->slots + s->mapped_bytes;
  const size_t bytes = s->slots_len * mprof_slot_stack_bytes(
                                          s->depth < SHORT ? s->depth : SHORT);
  if (begin < end)
    mprof_os_populate(
        begin, bytes < (size_t)(end - begin) ? bytes : (size_t)(end - begin));
}
