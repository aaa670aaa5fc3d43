// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots of a round (thread_stacks.h). The functions here run in the
// reader, that is, the thread that takes the stacks of all threads. The reader
// reads the stacks of threads that wait, and asks running threads by a signal.
// For all other threads it uses the facts that the kernel shows in /proc.
// thread_stacks.c makes the slots, and begins and ends the round.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
#define MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H

#include "thread_stacks/thread_stacks.h"

// The state of the calling thread as the reader of the active round.
struct mprof_reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  unsigned lost; // number of threads that were asked and ended without answer
};

// Returns whether nobody has begun to fill the slot, although its thread is not
// known to have ended.
static inline bool mprof_slot_is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

// Reads or asks the threads of all slots from number `from` on, and waits for
// their answers. Call in the active round, with all signals blocked.
void mprof_collect_slots(struct mprof_reader *r, size_t from);
// Fills the slots that are still in state Absent with the facts that the kernel
// shows in /proc. A thread that was asked and has not answered may begin waits
// again. Call after mprof_collect_slots, with all signals blocked.
void mprof_collect_rest(struct mprof_reader *r);

#endif // MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
