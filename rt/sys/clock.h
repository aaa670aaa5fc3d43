// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock that stamps events. A tick is a tick of the processor's time stamp
// counter, if the counter runs at the same speed in all power states; otherwise
// a nanosecond of CLOCK_MONOTONIC. The choice is made at the first use. Every
// function may be called from any thread.
// (Go: cputicks, ticksPerSecond)

#ifndef MPROF_RT_SYS_CLOCK_H
#define MPROF_RT_SYS_CLOCK_H

#include "sys/base.h"

// The source of the time. Written once, at the first use, and by tests.
extern atomic_int mprof_clock_kind __attribute__((visibility("hidden")));
enum { MPROF_CLOCK_UNKNOWN, MPROF_CLOCK_COUNTER, MPROF_CLOCK_OTHER };
static inline bool mprof_clock_is_counter(void) {
  return mprof_likely(
      atomic_load_explicit(&mprof_clock_kind, memory_order_acquire) ==
      MPROF_CLOCK_COUNTER);
}
// Returns the time if the source is not known to be the counter.
uint64_t mprof_clock_monotonic(void);

// Returns the time in ticks since some point in the past. Stamps of different
// threads can be compared: all earlier instructions of the thread are done
// before the clock is read. So a stamp taken before an unlock is not later than
// the unlock, and a stamp taken after a lock is not earlier than the lock.
// [signal]
static inline uint64_t mprof_clock_now(void) {
  unsigned cpu;
  return mprof_clock_is_counter() ? __builtin_ia32_rdtscp(&cpu)
                                  : mprof_clock_monotonic();
}
// Returns the time in ticks, in half the time that mprof_clock_now takes.
// Instructions around the call may run some nanoseconds before or after the
// stamp, so use it only where the order with other threads does not matter.
// [signal]
static inline uint64_t mprof_clock_about(void) {
  return mprof_clock_is_counter() ? __builtin_ia32_rdtsc()
                                  : mprof_clock_monotonic();
}

// Returns the number of ticks per second, measured against CLOCK_MONOTONIC
// since the first use of the clock. The first call may take up to a
// millisecond. Later results are more precise.
uint64_t mprof_clock_ticks_per_second(void);

// Converts nanoseconds to ticks. Returns at least 1, except that 0 gives 0.
uint64_t mprof_clock_ticks(uint64_t ns);
// Converts ticks to nanoseconds, rounded.
uint64_t mprof_clock_ns(uint64_t ticks);

// Replaces the clock, for tests. fn: returns the time in ticks, of which there
// are ticks_per_second; NULL restores the real clock.
void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second);

#endif // MPROF_RT_SYS_CLOCK_H
