// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time as events stamp it. (Go: cputicks, ticksPerSecond)

#ifndef MPROF_RT_SYS_CLOCK_H
#define MPROF_RT_SYS_CLOCK_H

#include "sys/base.h"

// What tells the time: written once, at the first use, and by tests.
extern atomic_int mprof_clock_kind __attribute__((visibility("hidden")));
enum { MPROF_CLOCK_UNKNOWN, MPROF_CLOCK_COUNTER, MPROF_CLOCK_OTHER };
static inline bool mprof_clock_is_counter(void) {
  return mprof_likely(
      atomic_load_explicit(&mprof_clock_kind, memory_order_acquire) ==
      MPROF_CLOCK_COUNTER);
}
uint64_t mprof_clock_other(void); // while it is not known to be the counter

// Ticks since some point in the past: the processor's time stamp counter where
// it runs evenly and through idle times, else nanoseconds of CLOCK_MONOTONIC.
// Two threads' stamps may be compared; what came before the call is done, so
// that a stamp taken before an unlock is not later than it, nor one after a
// lock earlier. [signal]
static inline uint64_t mprof_clock_now(void) {
  unsigned cpu;
  return mprof_clock_is_counter() ? __builtin_ia32_rdtscp(&cpu)
                                  : mprof_clock_other();
}
// The same for what has no order with other threads, which takes half as long:
// what is done around the call may be done some nanoseconds before or after.
// [signal]
static inline uint64_t mprof_clock_about(void) {
  return mprof_clock_is_counter() ? __builtin_ia32_rdtsc()
                                  : mprof_clock_other();
}

// Ticks in a second, measured against CLOCK_MONOTONIC from the first use of the
// clock on; the first result takes up to a millisecond, later ones are better.
uint64_t mprof_clock_ticks_per_second(void);

// ns of time as ticks, at least 1; 0 for 0.
uint64_t mprof_clock_ticks(uint64_t ns);
uint64_t mprof_clock_ns(uint64_t ticks);

// For tests: the clock is fn, with so many ticks a second; NULL for the real.
void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second);

#endif // MPROF_RT_SYS_CLOCK_H
