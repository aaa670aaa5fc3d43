// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots of a round of stacks (thread_stacks.h), as the reader: it
// reads the stacks of threads that wait, asks running threads by a signal, and
// takes what the kernel tells about the rest. thread_stacks.c makes the slots,
// and begins and ends the round.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
#define MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H

#include "thread_stacks/thread_stacks.h"

// The active round, for its reader, which is the calling thread.
struct mprof_reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  unsigned lost; // number of threads that were asked and have ended since
};

// Returns whether the slot's thread is alive, and no thread has begun to fill
// the slot.
static inline bool mprof_slot_is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

// Reads or asks the threads of all slots from number `from` on, and waits for
// their answers. Call in the active round, with all signals blocked.
void mprof_collect_slots(struct mprof_reader *r, size_t from);
// Withdraws the request from threads that have not answered, and fills the
// slots that are still absent with what the kernel tells. Call after
// mprof_collect_slots, in the same way.
void mprof_collect_rest(struct mprof_reader *r);

#endif // MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
