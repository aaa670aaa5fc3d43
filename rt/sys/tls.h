// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread-local data of the runtime, and its recursion guard. The
// thread-local words that instrumented code uses are in abi_words.h. All
// thread-local data are in the initial TLS block. So access needs no allocation
// and works in signal handlers.

#ifndef MPROF_RT_SYS_TLS_H
#define MPROF_RT_SYS_TLS_H

#include "sys/base.h"
#include "sys/lock.h"

struct mprof_thread;
struct mprof_order_held;
struct mprof_thread_order;
struct mprof_trace_row;
struct mprof_wait;

// The time that other threads have waited for the profiler's own locks while
// this thread held the locks. The time is kept here until the thread adds it to
// the mutex profile. The thread's scratch memory (struct mprof_scratch) has the
// stack of one release of a lock for which other threads have waited. (Go:
// mLockProfile)
struct mprof_lock_profile {
  uint64_t cycles; // ticks for the stack in scratch memory; 0: no stack
  uint64_t lost;   // ticks for releases whose stack was dropped
  uint32_t stack_len;
  uint8_t end;   // why the stack ends: enum mprof_stack_end
  bool disabled; // true while the thread adds its ticks to the profile; no new
                 // ticks are recorded meanwhile
};

struct mprof_tls {
  struct mprof_thread *self; // the thread's record; NULL: no record
  // The thread's list of locks (lock_order.h), and its last element. NULL: the
  // thread has no list.
  struct mprof_thread_order *order;
  struct mprof_order_held *volatile order_top;
  uint16_t shard; // selects the thread's counters (threads.h); 0: none
  // Number of the thread's label set (labels.h). self->labels is a copy of this
  // number that other threads can read. A change writes this number first and
  // then copies it. If a signal handler changes the labels between these two
  // steps, the copy gets the handler's number, because the copy is always made
  // from this field.
  volatile uint16_t labels;
  uint64_t random; // state of the random number generator; 0: not seeded
  // Version number of the sampling rate for which the thread has drawn its
  // countdown to the next sample; 0: no countdown was drawn.
  uint64_t rate_epoch;
  // The recursion guard. 0: not set. Otherwise mprof_guard_value of the
  // function that has set the guard, MPROF_GUARD_KEPT, or MPROF_GUARD_KEPT_OUT.
  volatile uintptr_t guard;
  // Signals that arrived while the guard was set. Bit s - 1 stands for signal
  // s. Such a signal stays blocked until the guard is cleared. In a forked
  // child the signal is blocked, too, but it is pending only in the parent.
  volatile uint64_t put_off;
  // The wait that was interrupted by the runtime's signal handler for the
  // option dump_on_signal. While the handler runs, stacks show the thread as
  // still in this wait. NULL: no such wait.
  const struct mprof_wait *interrupted;
  bool is_own;     // a thread of the runtime itself; never registered
  bool is_exiting; // the thread's end was reported; no new record is made
  // Number of the runtime's locks that this thread holds. They are the first
  // elements of `locks`, in the order in which the thread took them. The next
  // element is the lock that the thread takes or releases, or has released
  // last; NULL: none.
  unsigned held;
  struct mprof_lock *locks[MPROF_RANKS];
  // The lock for which the thread waits, and the time at which the wait began.
  // NULL: it waits for none.
  struct mprof_lock *awaited;
  uint64_t awaited_since;
  // The program's lock that the thread has just got after a wait, or 0, and the
  // bucket with the stack of the wait, for the note of the acquisition
  // (mprof_note_taken).
  uintptr_t waited;
  uint32_t waited_stack;
  // While a function runs that the program has marked with mprof_lock or a
  // similar attribute: an address in the frame of that function's caller.
  // Otherwise 0. Waits in frames below this address are part of the marked
  // function's wait and are not recorded separately. If an exception has left
  // the marked function, the value stays set until the thread waits in a frame
  // above this address.
  uintptr_t user_frame;
  struct mprof_lock_profile lock_profile;
  // The thread's data in the execution trace, and the number of the trace
  // session for which the pointer is valid.
  struct mprof_trace_row *trace_row;
  unsigned trace_session;
  // The last buffer of the row when the thread began its last wait, and the end
  // of the records there. They serve only to fetch this memory into the cache
  // (mprof_trace_wait_fetch).
  const void *trace_buf, *trace_end;
};

extern MPROF_HIDDEN _Thread_local struct mprof_tls mprof_tls;

// Unblocks the signals that arrived while the guard was set. Call this function
// after the guard was cleared.
void mprof_tls_deliver_signals(void);

// A guard that is valid until the thread clears it, because it stays set while
// the functions that have set it return.
#define MPROF_GUARD_KEPT UINTPTR_MAX
// A guard that another thread has set; see mprof_threads_keep_out.
#define MPROF_GUARD_KEPT_OUT (UINTPTR_MAX - 1)

// Called if the guard is already set. A stack overflow or a signal handler may
// have left the code that has set the guard by longjmp. That code never clears
// the guard. In this case, frees what that code has left (mprof_guard_abandon),
// and returns true. frame: frame address of the caller. The attribute saves the
// callers from keeping registers for this rare call.
__attribute__((cold, preserve_most)) bool mprof_guard_is_left(uintptr_t frame);

// Call this function if the code that has set the guard will never continue.
// Clears the guard, releases the runtime's locks that the thread holds, and
// counts the event that was left.
void mprof_guard_abandon(void);

// Functions of later rooms, set once at start; NULL before.
extern MPROF_HIDDEN struct mprof_guard_hooks {
  // Returns whether the stack has overflowed below the frame `at`, and the
  // caller's frame `frame` is above it on the same stack.
  bool (*has_overflowed)(uintptr_t at, uintptr_t frame);
  // Frees what the code that was left has kept for the thread.
  void (*abandon)(void);
} mprof_guard_hooks;

// Returns the guard of a function: its frame address, and the lower bits of its
// return address in the bits that no frame address has. One word has both, so
// that a signal handler never sees one without the other.
#define MPROF_GUARD_FRAME_BITS 48
static inline uintptr_t mprof_guard_value(uintptr_t frame,
                                          uintptr_t return_address) {
  return frame | return_address << MPROF_GUARD_FRAME_BITS;
}
// Returns the guard of the function with the frame address `frame`, which has
// not returned. The return address is in the word above the frame address.
static inline uintptr_t mprof_guard_of(uintptr_t frame) {
  return mprof_guard_value(frame, ((const uintptr_t *)frame)[1]);
}
static inline uintptr_t mprof_guard_frame(uintptr_t guard) {
  return guard & ((UINT64_C(1) << MPROF_GUARD_FRAME_BITS) - 1);
}

// Sets the recursion guard of the thread. Call this function before taking a
// lock or using the thread's buffers, and clear the guard before the calling
// function returns. Returns false if the guard is already set. In this case the
// caller is a signal handler that has interrupted the runtime. The caller must
// then drop its event and count the event as lost. The fences keep the compiler
// from moving guarded work across the guard. Only this thread reads the guard,
// so no processor fence is needed.
//
// Both functions are always inlined, also where the compiler optimizes for
// size. Otherwise __builtin_frame_address would be the address of their own
// frames. mprof_guard_enter_as is for functions that return with the guard set.
// guard: MPROF_GUARD_KEPT, or mprof_guard_of the caller that clears the guard.
__attribute__((always_inline)) static inline bool
mprof_guard_enter_as(uintptr_t guard) {
  if (mprof_unlikely(mprof_tls.guard != 0) &&
      !mprof_guard_is_left((uintptr_t)__builtin_frame_address(0)))
    return false;
  mprof_tls.guard = guard;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}
__attribute__((always_inline)) static inline bool mprof_guard_enter(void) {
  return mprof_guard_enter_as(
      mprof_guard_of((uintptr_t)__builtin_frame_address(0)));
}
// Clears the recursion guard, and then delivers the signals that arrived while
// the guard was set.
static inline void mprof_guard_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.guard = 0;
  if (mprof_unlikely(mprof_tls.put_off != 0))
    mprof_tls_deliver_signals();
}

#endif // MPROF_RT_SYS_TLS_H
