// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock for the times of events. Its unit is the tick. A tick is one step
// of the processor's time stamp counter if this counter runs at the same speed
// in all power states. Otherwise a tick is a nanosecond of CLOCK_MONOTONIC. The
// choice is made at the first use of the clock. Every function may be called
// from any thread. (Go: cputicks, ticksPerSecond)

#ifndef MPROF_RT_SYS_CLOCK_H
#define MPROF_RT_SYS_CLOCK_H

#include "sys/arch.h"
#include "sys/base.h"

// The source of the time, one of the MPROF_CLOCK_* values below. It is written
// once, when the clock is first used, but tests may write it again.
extern MPROF_HIDDEN atomic_int mprof_clock_kind;
enum { MPROF_CLOCK_UNKNOWN, MPROF_CLOCK_COUNTER, MPROF_CLOCK_OTHER };
static inline bool mprof_clock_is_counter(void) {
  return mprof_likely(
      atomic_load_explicit(&mprof_clock_kind, memory_order_acquire) ==
      MPROF_CLOCK_COUNTER);
}
// Returns the time in ticks. mprof_clock_now calls this function if the source
// of the time is not known to be the time stamp counter.
uint64_t mprof_clock_monotonic(void);

// Returns the time in ticks since some point in the past. Times read by
// different threads can be compared, because the processor reads the clock only
// after all earlier instructions of the thread are done. So a time read before
// an unlock is not later than the unlock. A time read after a lock is not
// earlier than the lock. Signal safe.
static inline uint64_t mprof_clock_now(void) {
  return mprof_clock_is_counter() ? mprof_counter_ordered()
                                  : mprof_clock_monotonic();
}
// Returns the time in ticks. This function takes half as long as
// mprof_clock_now. But the processor may read the clock some nanoseconds before
// or after the instructions around the call. So use this function only where
// the order of events in different threads does not matter. Signal safe.
static inline uint64_t mprof_clock_about(void) {
  return mprof_clock_is_counter() ? mprof_counter_about()
                                  : mprof_clock_monotonic();
}

// Returns the number of ticks per second, measured against CLOCK_MONOTONIC
// since the first use of the clock. The first call may take up to a
// millisecond. Later results are more precise, because the measured interval is
// longer. The result changes only when the interval has doubled, and not after
// a second. So profiles that are written together convert with the same number.
uint64_t mprof_clock_ticks_per_second(void);

// Converts ns nanoseconds to ticks. Returns 0 if ns is 0, otherwise at least 1.
uint64_t mprof_clock_ticks(uint64_t ns);
// Converts ticks to nanoseconds, rounded to the nearest number. For 0, does not
// measure the speed of the clock.
uint64_t mprof_clock_ns(uint64_t ticks);

// Returns the milliseconds of CLOCK_MONOTONIC, for pauses and deadlines. Signal
// safe.
int64_t mprof_clock_ms(void);

// Call this in a forked child. If the parent was forked during the first use of
// the clock, the child begins this use again.
void mprof_clock_reset(void);
// Replaces the clock in tests. fn returns the time in ticks; fn = NULL restores
// the real clock. ticks_per_second is the speed of the new clock.
void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second);

#endif // MPROF_RT_SYS_CLOCK_H
