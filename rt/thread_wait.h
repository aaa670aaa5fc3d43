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

#ifndef MPROF_RT_THREAD_WAIT_H
#define MPROF_RT_THREAD_WAIT_H

#include "contention.h"
#include "threads.h"

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

// --- thread_interrupted.c ---

// The system call that a signal has interrupted, whose handler the calling
// thread is in, below frame: as mprof_proc_thread says it of others. Its number
// is MPROF_SYSCALL_UNKNOWN if it has ended with EINTR, else it begins anew when
// the handler comes back. False: there is none.
struct mprof_proc_thread;
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// The same of the context, a ucontext_t, that a handler has got.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Whether the thread will then sleep in such a call, of a futex: nobody has
// changed that. calls_again: its caller does not return for EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// The noted wait that was interrupted so; NULL if there is none.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

// --- the rest is thread_wait.c's ---

// From now on t, the calling thread, begins no wait without a note.
void mprof_thread_is_noting(struct mprof_thread *t);

// A thread enters the registry: it may have been asked already.
void mprof_stacks_enter_locked(struct mprof_thread *t);
// Waits until nobody reads what t's end would take away.
void mprof_stacks_until_unread(const struct mprof_thread *t);

#endif // MPROF_RT_THREAD_WAIT_H
