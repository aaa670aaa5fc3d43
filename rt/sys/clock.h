// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock for the times of events. Its unit is the tick. If the processor's
// time stamp counter runs at the same speed in all power states, a tick is one
// step of that counter; otherwise a tick is a nanosecond of CLOCK_MONOTONIC.
// The choice is made at the first use of the clock. Every function may be
// called from any thread.
// (Go: cputicks, ticksPerSecond)

#ifndef MPROF_RT_SYS_CLOCK_H
#define MPROF_RT_SYS_CLOCK_H

#include "sys/base.h"

// The source of the time. Written once, when the clock is first used. Tests may
// write it again.
extern atomic_int mprof_clock_kind __attribute__((visibility("hidden")));
enum { MPROF_CLOCK_UNKNOWN, MPROF_CLOCK_COUNTER, MPROF_CLOCK_OTHER };
static inline bool mprof_clock_is_counter(void) {
  return mprof_likely(
      atomic_load_explicit(&mprof_clock_kind, memory_order_acquire) ==
      MPROF_CLOCK_COUNTER);
}
// Returns the time in ticks. mprof_clock_now calls this function unless it
// knows that the source is the time stamp counter.
uint64_t mprof_clock_monotonic(void);

// Returns the time in ticks since some point in the past. Times read by
// different threads can be compared, because the clock is read only after all
// earlier instructions of the thread are done. A time read before an unlock is
// not later than the unlock, and a time read after a lock is not earlier than
// the lock. Signal safe.
static inline uint64_t mprof_clock_now(void) {
  unsigned cpu;
  return mprof_clock_is_counter() ? __builtin_ia32_rdtscp(&cpu)
                                  : mprof_clock_monotonic();
}
// Returns the time in ticks. This function takes half as long as
// mprof_clock_now, but the processor may reorder it by some nanoseconds with
// the instructions around it. So use it only where the order of events in
// different threads does not matter. Signal safe.
static inline uint64_t mprof_clock_about(void) {
  return mprof_clock_is_counter() ? __builtin_ia32_rdtsc()
                                  : mprof_clock_monotonic();
}

// Returns the number of ticks per second, measured against CLOCK_MONOTONIC
// since the first use of the clock. The first call may take up to a
// millisecond. Later results are more precise.
uint64_t mprof_clock_ticks_per_second(void);

// Converts nanoseconds to ticks. Returns 0 for 0, and at least 1 for any other
// time.
uint64_t mprof_clock_ticks(uint64_t ns);
// Converts ticks to nanoseconds, rounded.
uint64_t mprof_clock_ns(uint64_t ticks);

// Replaces the clock, for tests. fn returns the time in ticks; NULL restores
// the real clock. ticks_per_second is the speed of the new clock.
void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second);

#endif // MPROF_RT_SYS_CLOCK_H
