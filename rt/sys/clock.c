// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the clock, and measures the speed of the processor's time stamp
// counter; see clock.h.

#include "sys/clock.h"

#include "sys/scale.h"

#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
// Shortest interval in nanoseconds for measuring the speed of the time stamp
// counter. The result of a shorter interval would be too imprecise.
#define SHORTEST_NS 500000
// Number of times that a thread waits for the first use of the clock.
#define SPINS 1000

atomic_int mprof_clock_kind;

// The readings of the time stamp counter and of CLOCK_MONOTONIC at the same
// moment.
struct moment {
  uint64_t ticks, ns;
};

static struct {
  // The first reading, from which the speed of the time stamp counter is
  // measured. The first thread that uses the clock writes `first` before it
  // writes mprof_clock_kind.
  struct moment first;
  atomic_int has_first; // state of `first`: 0 unset, 1 being written, 2 written
  // The last result of mprof_clock_ticks_per_second, and the length of its
  // measurement in nanoseconds. Atomic.
  _Atomic uint64_t rate, measured_ns;
  uint64_t (*injected)(void);
  uint64_t injected_rate;
} clock_state;

static uint64_t monotonic_ns(void) {
  struct timespec ts = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

int64_t mprof_clock_ms(void) { return (int64_t)(monotonic_ns() / 1000000); }

// Reads both clocks five times and returns the reading that took the fewest
// ticks. An interruption between the reads of the two clocks would make a
// reading slow and wrong, so the fastest reading is the most reliable.
static struct moment look(void) {
  struct moment best = {0, 0};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t before = mprof_counter_ordered();
    uint64_t ns = monotonic_ns();
    uint64_t after = mprof_counter_ordered();
    if (after - before < shortest) {
      shortest = after - before;
      best = (struct moment){before + shortest / 2, ns};
    }
  }
  return best;
}

static MPROF_NOINLINE int start(void) {
  int kind = mprof_counter_is_even() ? MPROF_CLOCK_COUNTER : MPROF_CLOCK_OTHER;
  int none = 0;
  if (kind == MPROF_CLOCK_COUNTER &&
      atomic_compare_exchange_strong(&clock_state.has_first, &none, 1)) {
    clock_state.first = look();
    atomic_store(&clock_state.has_first, 2);
  }
  atomic_store_explicit(&mprof_clock_kind, kind, memory_order_release);
  return kind;
}

static int kind(void) {
  int k = atomic_load_explicit(&mprof_clock_kind, memory_order_acquire);
  return mprof_likely(k != MPROF_CLOCK_UNKNOWN) ? k : start();
}

uint64_t mprof_clock_monotonic(void) {
  if (clock_state.injected != NULL)
    return clock_state.injected();
  return kind() == MPROF_CLOCK_COUNTER ? mprof_clock_now() : monotonic_ns();
}

uint64_t mprof_clock_ticks_per_second(void) {
  if (clock_state.injected != NULL)
    return clock_state.injected_rate;
  if (kind() != MPROF_CLOCK_COUNTER)
    return NS_PER_SECOND;
  if (mprof_counter_rate() != 0)
    return mprof_counter_rate();
  // Another thread may be writing clock_state.first. But it may also be this
  // thread, interrupted by the signal handler that calls this function.
  for (int i = 0; i < SPINS && atomic_load(&clock_state.has_first) != 2; i++)
    mprof_relax();
  const struct moment first =
      atomic_load(&clock_state.has_first) == 2 ? clock_state.first : look();
  struct moment now = look();
  while (now.ns - first.ns < SHORTEST_NS)
    now = look();
  const uint64_t ns = now.ns - first.ns;
  const uint64_t measured = atomic_load(&clock_state.measured_ns);
  if (measured >= NS_PER_SECOND || ns / 2 < measured)
    return atomic_load(&clock_state.rate);
  const uint64_t rate =
      mprof_mul_div(now.ticks - first.ticks, NS_PER_SECOND, ns, ns / 2);
  atomic_store(&clock_state.rate, rate);
  atomic_store(&clock_state.measured_ns, ns);
  return rate;
}

uint64_t mprof_clock_ticks(uint64_t ns) {
  if (ns == 0)
    return 0;
  const uint64_t ticks =
      mprof_mul_div(ns, mprof_clock_ticks_per_second(), NS_PER_SECOND, 0);
  return ticks < 1 ? 1 : ticks > INT64_MAX ? INT64_MAX : ticks;
}

uint64_t mprof_clock_ns(uint64_t ticks) {
  if (ticks == 0)
    return 0; // the speed of the clock is unknown in most short processes
  const uint64_t rate = mprof_clock_ticks_per_second();
  return mprof_mul_div(ticks, NS_PER_SECOND, rate, rate / 2);
}

void mprof_clock_reset(void) {
  int being_written = 1;
  atomic_compare_exchange_strong(&clock_state.has_first, &being_written, 0);
}

void mprof_clock_set(uint64_t (*fn)(void), uint64_t ticks_per_second) {
  clock_state.injected = fn;
  clock_state.injected_rate = ticks_per_second;
  atomic_store(&mprof_clock_kind, fn ? MPROF_CLOCK_OTHER : MPROF_CLOCK_UNKNOWN);
}
