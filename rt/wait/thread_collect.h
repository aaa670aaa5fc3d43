// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots of a round of stacks (thread_stacks.h), as its reader.
// thread_stacks.c makes the slots, and begins and ends the round.

#ifndef MPROF_RT_WAIT_THREAD_COLLECT_H
#define MPROF_RT_WAIT_THREAD_COLLECT_H

#include "wait/thread_stacks.h"

// A round, as the calling thread takes it.
struct mprof_reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  unsigned lost; // threads that were asked and have ended since
};

// Returns whether nobody has begun to fill a slot whose thread still lives.
static inline bool mprof_slot_is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

// Reads or asks the threads of the slots from number from on, and waits for
// their answers. Call in the active round, with all signals blocked.
void mprof_collect_slots(struct mprof_reader *r, size_t from);
// Takes the request back from threads that have not answered, and fills the
// slots that are still absent with what the kernel tells.
void mprof_collect_rest(struct mprof_reader *r);

#endif // MPROF_RT_WAIT_THREAD_COLLECT_H
