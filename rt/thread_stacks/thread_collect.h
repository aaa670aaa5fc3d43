// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots of a round with the stacks of all threads (thread_stacks.h).
// These functions run in the reader, that is, in the thread that collects the
// stacks. The reader reads the stacks of threads that wait, and asks running
// threads for their stacks by a signal. For all other threads it uses the data
// that the kernel shows in /proc. thread_stacks.c creates the slots, and begins
// and ends the round.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
#define MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H

#include "sys/base.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "thread_stacks/thread_ask.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"

// The state of the calling thread while it collects the stacks of all threads.
struct mprof_reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  // Whether the slots were made for the threads of the registry, without the
  // kernel's list.
  bool is_by_registry;
  // The threads that the reader asked for their stacks by a signal, and the
  // number of these that ended without an answer.
  struct mprof_asked asked;
  unsigned lost;
  // The slots of these threads, linked by next_asked.
  struct mprof_thread_slot *last_asked;
};

// Returns true if the slot is empty, no thread is filling it now, and the
// slot's thread is not known to have ended.
static inline bool mprof_slot_is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

// Returns whether slot->thread is still the record of the slot's thread. The
// thread may have ended, and a new thread may have reused its record.
static inline bool mprof_is_own_record(const struct mprof_reader *r,
                                       const struct mprof_thread_slot *slot) {
  const struct mprof_thread *t = slot->thread;
  return atomic_load(&t->round) == r->round &&
         atomic_load(&t->slot) == mprof_slot_number(r->s, slot);
}

// Acquires registry_lock, unless the round stops all threads. In a round that
// stops all threads, the reader holds the lock from the beginning. Otherwise
// the round could stop a thread that holds the lock, and the reader would wait
// for the lock forever.
static inline void mprof_reader_lock_registry(const struct mprof_reader *r) {
  if (!r->s->stops)
    mprof_lock_acquire(&mprof_registry_lock);
}
static inline void mprof_reader_unlock_registry(const struct mprof_reader *r) {
  if (!r->s->stops)
    mprof_lock_release(&mprof_registry_lock);
}

// Fills the slots with numbers >= from: reads the stacks of waiting threads,
// asks running threads by a signal, and waits for their answers. Call in the
// active round, with all signals blocked.
void mprof_collect_slots(struct mprof_reader *r, size_t from);
// Fills the slots that are still in state Absent (empty) with the data that the
// kernel shows in /proc. A thread that was asked by a signal must not begin a
// wait until the signal arrives (thread_wait.h). This function ends the
// restriction for threads that have not answered. Call after
// mprof_collect_slots, with all signals blocked.
void mprof_collect_rest(struct mprof_reader *r);

#endif // MPROF_RT_THREAD_STACKS_THREAD_COLLECT_H
