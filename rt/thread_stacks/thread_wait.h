// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of each thread in the stacks of all threads (thread_stacks.h). A
// thread notes each of its waits, so that a reader can read its stack during
// the wait. When a wait ends during a round, the thread first fills its own
// slot.
//
// The note is the word `wait` in the thread's record. w is the address of the
// wait:
//
//   0                --- a wait begins ----------> w
//   w                --- the wait ends ----------> 0, or the outer wait
//   w                --- a reader claims it -----> w|READ or w|HELD
//   w|READ, w|HELD   --- the reader is done -----> w
//   w|READ           --- the wait ends ----------> 0: the reading is void
//   0                --- a reader asks ----------> MPROF_WAIT_ASKED
//   MPROF_WAIT_ASKED --- the signal arrives -----> 0
//
// A reader claims a wait by setting a bit, reads the stack, and clears the bit.
// If the word has changed meanwhile, the reader drops the stack that it has
// read. So a thread that is woken goes on at once, although a reader has set
// READ. The bit HELD makes the thread stay until the reader clears it. It is
// used for a stack that may go away with the wait (a stack that is not the
// thread's own), and for all threads if they are to stand still.
// A thread that does not wait is asked by a signal. The signal must not end the
// thread's next wait early, so the thread begins no wait until the signal has
// arrived (ASKED).

#ifndef MPROF_RT_THREAD_STACKS_THREAD_WAIT_H
#define MPROF_RT_THREAD_STACKS_THREAD_WAIT_H

#include "lock_wait/contention.h"
#include "thread/threads.h"

struct mprof_thread_slot;
struct mprof_thread_stacks;

#define MPROF_WAIT_READ ((uintptr_t)1)
#define MPROF_WAIT_HELD ((uintptr_t)2)
#define MPROF_WAIT_BITS (MPROF_WAIT_READ | MPROF_WAIT_HELD)
// A value of the word that is not the address of a wait.
#define MPROF_WAIT_ASKED ((uintptr_t)4)

// Notes the calling thread's wait w, whose op, frame, start and kind are set.
// Call with the guard set.
void mprof_wait_note(struct mprof_wait *w);
// Removes the note of w at the end of the wait. If a round is active, first
// fills the thread's slot. Call in the process in which w was noted. [signal]
void mprof_wait_note_end(struct mprof_wait *w);

// Puts a thread that enters the registry into the active round, if there is
// one: the signal that asks the thread may already be on its way. Call with
// registry_lock held.
void mprof_stacks_enter_locked(struct mprof_thread *t);
// Waits until no reader reads the stack of t, which is about to end.
void mprof_stacks_until_unread(const struct mprof_thread *t);

// --- the active round ---

extern struct mprof_round {
  atomic_uint active;  // number of the round; 0: no round
  atomic_uint users;   // number of threads that use the slots
  atomic_uint stopped; // 1 while threads that have answered must stand still
  _Atomic(const struct mprof_thread *) reading; // thread whose stack is read
  struct mprof_thread_stacks *stacks;           // written before active
} mprof_round;

// Returns a slot of the round. The round then does not end before
// mprof_round_leave. Returns NULL, with nothing to leave, if the active round
// has another number. Signals must be blocked from this call to
// mprof_round_leave.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Changes a slot from Absent to InProgress, so that the caller may fill it.
// Returns false if another thread was first.
bool mprof_slot_claim(struct mprof_thread_slot *slot);
// Changes a filled slot to Satisfied.
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// Unwinds the stack of a thread in wait w: first the function that the thread
// waits in, then its callers. range: bounds of the stack. Writes at most depth
// addresses to pcs, and to *end how the stack ends. Returns the number of
// addresses.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// Writes the kind of w and its time so far into a slot.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

#endif // MPROF_RT_THREAD_STACKS_THREAD_WAIT_H
