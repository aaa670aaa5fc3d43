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
#include "sys/base.h"
#include "thread/threads.h"

struct mprof_proc_thread;
struct mprof_thread_slot;

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
// Also clears the hold records of t (holds.h), which an ended thread with the
// same struct may have left. Call with registry_lock held.
void mprof_stacks_enter_locked(struct mprof_thread *t);
// Waits until no reader reads the stack of t. Call when t is about to end.
void mprof_stacks_until_unread(const struct mprof_thread *t);

// --- which threads may be asked for their stacks by a signal ---
//
// A thread notes its waits only after the first collection of stacks has
// requested it. Until then the thread may be in a system call of an unnoted
// wait. Such a thread must not be asked, because the signal would make the call
// fail with EINTR.

// Records that the calling thread will note each wait that it begins (store the
// address of the wait in its record). t: the calling thread.
void mprof_thread_is_noting(struct mprof_thread *t);

// Returns whether it is proven that the thread of the slot is not in a wait
// that the thread has not noted. The proof may need two calls: the first call
// stores the thread's processor time and number of sleeps in the slot and
// returns false. Call in the thread that collects the stacks.
// p: state of the thread, which must be running, as the kernel shows it in
//   /proc.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_THREAD_STACKS_THREAD_WAIT_H
