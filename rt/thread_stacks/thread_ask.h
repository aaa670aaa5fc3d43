// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signal that asks a running thread for its stack. The signal's value has
// two numbers: the number of the round (the present collection of all stacks;
// see thread_stacks.h) and the number of the slot (thread_slots.h) that the
// thread must fill. The signal's handler is installed only during a round. The
// handler fills the slot. If the runtime has not sent the signal, the handler
// calls the program's handler instead.
//
// Call mprof_ask_begin, mprof_ask and mprof_ask_end with stacks_lock held.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_ASK_H
#define MPROF_RT_THREAD_STACKS_THREAD_ASK_H

#include "sys/base.h"

struct mprof_proc_thread;
struct mprof_wait;

// Returns the number of the signal, which the option threads_signal selects.
int mprof_ask_signal(void);
// Installs the signal handler. Returns 0 or -errno. After an error, mprof_ask
// fails for all threads.
int mprof_ask_begin(void);
// Sends thread tid the signal that asks for its stack. Returns 0 or -errno.
// round: number of the active round.
// slot: number of the thread's slot.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Waits for a short time until all sent signals have arrived, and then removes
// the signal handler. If a signal may still arrive later, the handler stays
// installed.
// lost: number of threads that were asked and have ended without an answer.
void mprof_ask_end(unsigned lost);
// Removes the signal handler and ends all pauses in a forked child. A forked
// child has no pending signals, so no signal of the parent can still arrive.
void mprof_ask_reset(void);

// --- the system call that a signal handler has interrupted ---
//
// The functions read the registers that the kernel saved before it called the
// handler. Call them in the handler.

// Describes in *p the system call that the signal handler has interrupted.
// Returns false if the handler has not interrupted a system call. If the call
// has failed with EINTR, p->syscall is MPROF_SYSCALL_UNKNOWN. Otherwise the
// kernel will restart the call when the handler returns.
// frame: frame address of a function that the handler has called.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// Describes in *p the system call that a signal handler has interrupted. The
// results are those of mprof_interrupted_call.
// context: the ucontext_t that the kernel has passed to the handler.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Returns whether the thread will sleep again in the interrupted futex call p
// when the handler has returned. The thread sleeps again if the futex word
// still has a value for which the call waits. Returns false if p is not a futex
// call.
// calls_again: true: the caller of the system call repeats the call after
//   EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// Returns the wait whose system call the signal handler has interrupted.
// Returns NULL if the handler has not interrupted a wait, or if the address of
// the wait is not in the thread's record (thread_wait.h).
// frame: frame address of a function that the handler has called.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

// --- pauses ---
//
// Computing threads pause during a round, if more threads compute than there
// are processors. A thread can answer the reader's signal only when it has a
// processor. Without pauses, the threads that have answered would go on
// computing, and each other thread would wait for its turn, many time slices
// later. A thread that has answered therefore leaves its processor to the
// others, and to the reader, until all have answered and the reader has read
// the stacks of the waiting threads. (Go stops all threads for the same reason:
// stopTheWorld)

// A pause ends after this time, even if some threads have not answered. They
// may not be able to answer soon, for example while they wait for a disk. Among
// many threads that compute, each one is kept from running for such a time
// anyway. Tests change this variable.
extern MPROF_HIDDEN unsigned mprof_pause_ms;

// The running threads that the reader has asked by a signal.
struct mprof_asked {
  unsigned threads;
  uint64_t processors[128]; // bit i: an asked thread may run on processor i
};

// Adds thread tid, which runs and was just asked by the reader. If the asked
// threads are now more than their processors, returns true, and threads that
// answer from now on pause. Later calls return false. Call this and
// mprof_pause_end in the reader, during the round.
bool mprof_pause_asked(struct mprof_asked *a, int tid);
// Ends all pauses, and lets no thread pause from now on.
void mprof_pause_end(void);
// Pauses the calling thread, if threads that answer pause now. A thread that
// holds a lock of the runtime does not pause, because the reader may need the
// lock. Call in the handler of the reader's signal, after the answer.
void mprof_pause(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_ASK_H
