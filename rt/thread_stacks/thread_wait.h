// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a stack collection (thread_stacks.h) that each thread does
// itself. A thread notes each of its waits: it stores the address of the struct
// mprof_wait in its record. During the wait, a reader, which is a thread that
// collects stacks, can then read the waiting thread's stack. If a round (a
// collection of all stacks) is active when the wait ends, the thread first
// stores its own stack in its slot of the round.
//
// The address is stored in the word `wait` of the thread's record. The word
// changes as follows, where w is the address of the wait:
//
//   0                --- a wait begins ----------> w
//   w                --- the wait ends ----------> 0, or the outer wait
//   w                --- a reader claims it -----> w|READ or w|HELD
//   w|READ, w|HELD   --- the reader is done -----> w
//   w|READ           --- the wait ends ----------> 0 (reader drops the stack)
//   0                --- a reader asks ----------> MPROF_WAIT_ASKED
//   MPROF_WAIT_ASKED --- the signal arrives -----> 0
//
// A reader claims a wait by setting a bit, reads the stack, and clears the bit.
// There are two bits:
// - READ: a thread that is woken goes on at once, although the bit is set. If
//   the word has changed meanwhile, the reader drops the stack that it has
//   read.
// - HELD: the thread does not end its wait until the reader clears the bit. The
//   reader sets this bit if the thread waits on a stack other than its own, for
//   example a coroutine's stack, which may not exist after the wait. In a round
//   that stops all threads, the reader sets this bit for all waits.
//
// If a thread does not wait, the reader sends it a signal that asks for its
// stack. The signal must not interrupt the thread's next wait. So the thread
// begins no wait while the word is MPROF_WAIT_ASKED, that is, until the signal
// has arrived.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_WAIT_H
#define MPROF_RT_THREAD_STACKS_THREAD_WAIT_H

#include "lock_wait/contention.h"
#include "thread/threads.h"

struct mprof_thread_slot;
struct mprof_thread_stacks;

#define MPROF_WAIT_READ ((uintptr_t)1)
#define MPROF_WAIT_HELD ((uintptr_t)2)
#define MPROF_WAIT_BITS (MPROF_WAIT_READ | MPROF_WAIT_HELD)
// Value of the word `wait` in a thread's record while a signal that asks the
// thread for its stack is on its way to the thread. No wait has this address.
#define MPROF_WAIT_ASKED ((uintptr_t)4)

// Notes the wait w, which the calling thread is about to begin: stores the
// address of w in the thread's record. The fields op, frame, start and kind of
// w must be set. Call with the recursion guard set.
void mprof_wait_note(struct mprof_wait *w);
// Removes the address of w from the thread's record, when the wait ends. If a
// round (a collection of all stacks) is active, first fills the thread's slot.
// Do not call in a child that was forked after w was noted. May be called in
// signal handlers.
void mprof_wait_note_end(struct mprof_wait *w);

// Connects thread t, which enters the registry, with its slot in the active
// round, if a round is active. If the thread that collects the stacks has
// already sent t a signal, t will begin no wait before the signal has arrived.
// Call with registry_lock held.
void mprof_stacks_enter_locked(struct mprof_thread *t);
// Waits until no reader reads the stack of t. Call when t is about to end.
void mprof_stacks_until_unread(const struct mprof_thread *t);

// --- the active round ---
//
// A round is one collection of the stacks of all threads.

extern MPROF_HIDDEN struct mprof_round {
  atomic_uint active;  // number of the active round; 0: none
  atomic_uint users;   // number of threads that use the slots now
  atomic_uint stopped; // 1: a thread that has reported its stack waits
                       // until this field is 0 again
  // The thread whose stack the reading thread reads now, or NULL.
  _Atomic(const struct mprof_thread *) reading;
  struct mprof_thread_stacks *stacks; // The slots. Written before `active`.
} mprof_round;

// Returns the slot with the number `slot`, if the active round has the number
// `round`. In this case the round does not end before the caller calls
// mprof_round_leave. Otherwise returns NULL, and mprof_round_leave must not be
// called. Signals must be blocked from this call to mprof_round_leave.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Changes the slot's state from Absent to InProgress, so that the caller may
// fill the slot, and provides memory for a stack of `depth` addresses. Returns
// false if another thread has claimed the slot first.
bool mprof_slot_claim(struct mprof_thread_stacks *s,
                      struct mprof_thread_slot *slot, size_t depth);
// Changes the state of a filled slot from InProgress to Satisfied.
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// Unwinds the stack of a thread that is in wait w. The leaf of the stack is the
// hooked function in which the thread waits. Returns the number of addresses.
// range: bounds of the stack.
// pcs: receives at most depth addresses.
// end: receives whether the stack is complete or truncated.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// Stores the kind of wait w and its duration so far in the slot.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

#endif // MPROF_RT_THREAD_STACKS_THREAD_WAIT_H
