// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time as events stamp it. (Go: cputicks, ticksPerSecond)

#ifndef MPROF_RT_CLOCK_H
#define MPROF_RT_CLOCK_H

#include "base.h"

// Ticks since some point in the past: the processor's time stamp counter where
// it runs evenly and through idle times, else nanoseconds of CLOCK_MONOTONIC.
// Two threads' stamps may be compared; what came before the call is done.
// [signal]
uint64_t mprof_clock_now(void);
// The same for what has no order with other threads, which takes half as long:
// what is done around the call may be done some nanoseconds before or after.
// [signal]
uint64_t mprof_clock_about(void);

// Ticks in a second, measured against CLOCK_MONOTONIC from the first use of the
// clock on; the first result takes up to a millisecond, later ones are better.
uint64_t mprof_clock_ticks_per_second(void);

// ns of time as ticks, at least 1; 0 for 0.
uint64_t mprof_clock_ticks(uint64_t ns);
uint64_t mprof_clock_ns(uint64_t ticks);

// For tests: the clock is fn, with so many ticks a second; NULL for the real.
void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second);

#endif // MPROF_RT_CLOCK_H
