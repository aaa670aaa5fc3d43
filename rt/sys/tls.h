// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread-local words of the runtime, and its recursion guard.

#ifndef MPROF_RT_SYS_TLS_H
#define MPROF_RT_SYS_TLS_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_mem_cycle;
struct mprof_thread;
struct mprof_trace_row;
struct mprof_wait;

// Contention for the profiler's own locks that this thread has caused and not
// yet put into the mutex profile. (Go: mLockProfile)
struct mprof_lock_profile {
  uint64_t cycles; // of the stack in scratch; 0: there is none
  uint64_t lost;   // ticks without a stack
  uint32_t stack_len;
  uint8_t end;   // enum mprof_stack_end
  bool disabled; // it is being put there
};

struct mprof_tls {
  struct mprof_thread *self;
  uint16_t shard; // of self, 0 without
  // The thread's set of labels; labels.h. Handlers may change it, so self's
  // copy is made from here.
  volatile uint16_t labels;
  // The last event was counted in this bucket's cell of the shard, and the
  // counters of the cell's cycles; NULL: in none. counts.h
  const struct mprof_bucket *cell_bucket;
  struct mprof_mem_cycle *cell_cycles;
  uint64_t random;     // state of the generator, 0 before the first use
  uint64_t rate_epoch; // 0 before the first use
  volatile bool guarded;
  // Bit s - 1: signal s came while guarded, and is blocked until that ends; in
  // a forked child, too, where it does not wait.
  volatile uint64_t put_off;
  // The wait that the option dump_on_signal's handler has interrupted, and is
  // shown as what the thread is in; NULL: none.
  const struct mprof_wait *interrupted;
  bool is_own;         // the runtime's: it is never in the registry
  bool is_exiting;     // its end was seen: it cannot be unregistered again
  unsigned locks_held; // of the runtime's own
  // Frame of a site whose mprof_lock or its like is under way, or 0: what is
  // called from there is part of it. One that was left by an exception counts
  // until the thread is above it again.
  uintptr_t user_frame;
  // The next event comes from code that was not rewritten. A site's event that
  // finds it set is followed the longer way for nothing.
  bool is_foreign;
  struct mprof_lock_profile lock_profile;
  // The thread's row in a session of the trace, and the session's number.
  struct mprof_trace_row *trace_row;
  unsigned trace_session;
};

extern _Thread_local struct mprof_tls mprof_tls;

// Lets the signals come that were put off while the guard was set. Call without
// the guard.
void mprof_tls_deliver_signals(void);

// The recursion guard is set on every path that takes a lock or uses the
// thread's buffers. Returns false when it is set already: then the caller is a
// signal handler that has interrupted the runtime. It must drop its event and
// count the loss.
// The compiler moves no guarded work across the guard. Other threads need no
// fence.
static inline bool mprof_guard_enter(void) {
  if (mprof_tls.guarded)
    return false;
  mprof_tls.guarded = true;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}
static inline void mprof_guard_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.guarded = false;
  if (mprof_unlikely(mprof_tls.put_off != 0))
    mprof_tls_deliver_signals();
}

#endif // MPROF_RT_SYS_TLS_H
