// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread does for the stacks of all threads (thread_stacks.h): it notes
// each wait, so that another can read its stack meanwhile, and puts itself into
// a profile that is under way before it goes on.
//
// The note is one word of its record, `wait`:
//
//                 begin                          claim
//        0 ---------------------> w  <--------------------------> w|READ,
//        w|HELD |  <---------------------   --- end: that reading is void --->
//        0 (READ)
//   ask  v         end
//   MPROF_WAIT_ASKED --- the signal has come ---> 0
//
// A reader claims a wait by a bit, reads, and takes the bit off; finding the
// word changed, it throws away what it has read. So a thread that is woken goes
// on at once: nobody holds it. Only what may vanish with the wait is HELD
// (a stack that is not the thread's own), and everything when all threads are
// to stand still.
// A thread without a wait is asked by a signal, which must not end its next
// one: until the signal has come it begins none.

#ifndef MPROF_RT_WAIT_THREAD_WAIT_H
#define MPROF_RT_WAIT_THREAD_WAIT_H

#include "thread/threads.h"
#include "wait/contention.h"

struct mprof_thread_slot;
struct mprof_thread_stacks;

#define MPROF_WAIT_READ ((uintptr_t)1)
#define MPROF_WAIT_HELD ((uintptr_t)2)
#define MPROF_WAIT_BITS (MPROF_WAIT_READ | MPROF_WAIT_HELD)
// No wait has this address.
#define MPROF_WAIT_ASKED ((uintptr_t)4)

// The calling thread begins a wait that has op, frame, start and kind. Call
// with the guard set.
void mprof_wait_note(struct mprof_wait *w);
// It is over. Call in the process that it was noted in. [signal]
void mprof_wait_note_end(struct mprof_wait *w);

// A thread enters the registry: it may have been asked already.
void mprof_stacks_enter_locked(struct mprof_thread *t);
// Waits until nobody reads what t's end would take away.
void mprof_stacks_until_unread(const struct mprof_thread *t);

// --- the round under way ---

extern struct mprof_round {
  atomic_uint active;  // its number; 0: there is none
  atomic_uint users;   // threads that use its slots
  atomic_uint stopped; // 1 while threads that have answered stand still
  _Atomic(const struct mprof_thread *) reading; // whose stack is being read
  struct mprof_thread_stacks *stacks;           // written before active
} mprof_round;

// The slot of a number in the round under way, which then does not end before
// mprof_round_leave; NULL if that is another round. Signals must be blocked
// between the two.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Makes a slot InProgress, for the caller to fill; false if another was first.
bool mprof_slot_claim(struct mprof_thread_slot *slot);
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// The stack of a thread in wait w, the function that it waits in first.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// What a slot tells of it besides.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

#endif // MPROF_RT_WAIT_THREAD_WAIT_H
