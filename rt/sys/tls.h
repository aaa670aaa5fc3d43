// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread-local words of the runtime, and its recursion guard. The words of
// rewritten code are in abi_words.h. All are in the initial TLS block, so
// access needs no allocation and works in signal handlers.

#ifndef MPROF_RT_SYS_TLS_H
#define MPROF_RT_SYS_TLS_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_mem_cycle;
struct mprof_thread;
struct mprof_trace_row;
struct mprof_wait;

// Contention for the profiler's own locks that this thread has caused and that
// is not yet in the mutex profile. (Go: mLockProfile)
struct mprof_lock_profile {
  uint64_t cycles; // ticks of the stack in scratch; 0: no stack
  uint64_t lost;   // ticks whose stack was dropped
  uint32_t stack_len;
  uint8_t end;   // enum mprof_stack_end
  bool disabled; // while the ticks are being recorded in the profile
};

struct mprof_tls {
  struct mprof_thread *self; // the thread's record, or NULL
  uint16_t shard;            // shard of self; 0 without self
  // Number of the thread's label set (labels.h). Signal handlers may change it,
  // so self's copy is made from this one.
  volatile uint16_t labels;
  // The bucket of the last event that was counted in a cell, and that cell's
  // counters. NULL: no such event. See counts.h.
  const struct mprof_bucket *cell_bucket;
  struct mprof_mem_cycle *cell_cycles;
  uint64_t random;     // state of the random generator, 0 before the first use
  uint64_t rate_epoch; // epoch of the last draw, 0 before the first one
  volatile bool guarded; // the recursion guard
  // Bit s - 1 is set if signal s came while the guard was set. Then the signal
  // is blocked until the guard is cleared. A forked child inherits the
  // blocked signal, although the signal is not pending there.
  volatile uint64_t put_off;
  // The wait that the handler of dump_on_signal has interrupted. The thread is
  // shown as being in this wait. NULL: none.
  const struct mprof_wait *interrupted;
  bool is_own;         // a thread of the runtime: never in the registry
  bool is_exiting;     // its end was seen; its record cannot be made again
  unsigned locks_held; // number of the runtime's locks that it holds
  // Frame of a site whose function marked mprof_lock or the like is running, or
  // 0. Waits below that frame are part of the function. If an exception left
  // the function, the frame counts until the thread is above it again.
  uintptr_t user_frame;
  // The next event comes from uninstrumented code, so its stack is unwound by
  // call frame information. If an instrumented site's event finds it set, only
  // time is lost.
  bool is_foreign;
  struct mprof_lock_profile lock_profile;
  // The thread's row in a session of the trace, and that session's number.
  struct mprof_trace_row *trace_row;
  unsigned trace_session;
};

extern _Thread_local struct mprof_tls mprof_tls;

// Unblocks the signals that came while the guard was set. Call without the
// guard.
void mprof_tls_deliver_signals(void);

// Sets the recursion guard. It is set on every path that takes a lock or uses
// the thread's buffers. Returns false if it is already set. Then the caller is
// a signal handler that has interrupted the runtime: it must drop its event and
// count it as lost. The fences keep the compiler from moving guarded work
// across the guard. Other threads need no fence.
static inline bool mprof_guard_enter(void) {
  if (mprof_tls.guarded)
    return false;
  mprof_tls.guarded = true;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}
// Clears the guard, and delivers the signals that were put off.
static inline void mprof_guard_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.guarded = false;
  if (mprof_unlikely(mprof_tls.put_off != 0))
    mprof_tls_deliver_signals();
}

#endif // MPROF_RT_SYS_TLS_H
