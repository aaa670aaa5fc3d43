// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread-local data of the runtime, and its recursion guard. abi_words.h
// has the thread-local words that instrumented code uses. All of them are in
// the initial TLS block, so access needs no allocation and works in signal
// handlers.

#ifndef MPROF_RT_SYS_TLS_H
#define MPROF_RT_SYS_TLS_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_mem_cycle;
struct mprof_thread;
struct mprof_trace_row;
struct mprof_wait;

// The time that other threads have waited for the profiler's own locks while
// this thread held them. The time is kept here until it is added to the mutex
// profile.
// (Go: mLockProfile)
struct mprof_lock_profile {
  uint64_t cycles; // ticks for the stack in scratch; 0: no stack
  uint64_t lost;   // ticks whose stack was not kept
  uint32_t stack_len;
  uint8_t end;   // enum mprof_stack_end
  bool disabled; // true while the ticks are added to the profile
};

struct mprof_tls {
  struct mprof_thread *self; // the thread's record, or NULL
  uint16_t shard;            // shard of self; 0: self is NULL
  // Number of the thread's label set (labels.h). self->labels is a copy for
  // other threads. If a signal handler changes the labels, it changes this
  // number first, so the copy is always made from it.
  volatile uint16_t labels;
  // The bucket of the last event that was counted in a cell (counts.h), and
  // that cell's counters. NULL: no such event.
  const struct mprof_bucket *cell_bucket;
  struct mprof_mem_cycle *cell_cycles;
  uint64_t random;       // state of the random generator; 0: not yet seeded
  uint64_t rate_epoch;   // heap rate's epoch at the last countdown; 0: none yet
  volatile bool guarded; // the recursion guard
  // Bit s - 1 is set if signal s arrived while the guard was set. Such a signal
  // stays blocked until the guard is cleared. In a forked child the signal is
  // blocked, too, but it is not pending there.
  volatile uint64_t put_off;
  // The wait that was interrupted by the signal handler of the option
  // dump_on_signal. Stacks show the thread as still in this wait. NULL: no such
  // wait.
  const struct mprof_wait *interrupted;
  bool is_own;         // a thread of the runtime itself: never registered
  bool is_exiting;     // its end was reported, so it gets no new record
  unsigned locks_held; // number of the runtime's locks that the thread holds
  // Frame address of the call site while a function runs that the program has
  // marked as a lock function (mprof_lock and similar); otherwise 0. Waits in
  // frames below this one are part of that function and are not recorded
  // separately. If an exception has left the function, the value stays set
  // until the thread runs in a frame above.
  uintptr_t user_frame;
  // The next event comes from uninstrumented code, so its stack is unwound by
  // call frame information. If the next event comes from an instrumented call
  // site nevertheless, its stack is still right and only takes longer to
  // unwind.
  bool is_foreign;
  struct mprof_lock_profile lock_profile;
  // The thread's row in the execution trace, and the number of the trace
  // session for which the row is valid.
  struct mprof_trace_row *trace_row;
  unsigned trace_session;
};

extern _Thread_local struct mprof_tls mprof_tls;

// Unblocks the signals that arrived while the guard was set. Call when the
// guard is cleared.
void mprof_tls_deliver_signals(void);

// Sets the recursion guard of the thread. Every path that takes a lock or uses
// the thread's buffers sets the guard first. Returns false if the guard is
// already set. Then the caller is a signal handler that has interrupted the
// runtime, and the caller must drop its event and count the event as lost. The
// fences keep the compiler from moving guarded work across the guard. Only this
// thread reads the guard, so no processor fence is needed.
static inline bool mprof_guard_enter(void) {
  if (mprof_tls.guarded)
    return false;
  mprof_tls.guarded = true;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}
// Clears the guard, and delivers the signals that arrived while the guard was
// set.
static inline void mprof_guard_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.guarded = false;
  if (mprof_unlikely(mprof_tls.put_off != 0))
    mprof_tls_deliver_signals();
}

#endif // MPROF_RT_SYS_TLS_H
