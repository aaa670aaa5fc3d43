// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the clock's rate agrees with CLOCK_MONOTONIC within 1 %. Ticks
// convert to nanoseconds and back. A time other than 0 converts to at least one
// tick.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "check.h"

#include "sys/clock.h"

#include <pthread.h>
#include <time.h>

static uint64_t monotonic(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t injected(void) { return 4711; }

static void *ask(void *result) {
  *(uint64_t *)result = mprof_clock_ticks_per_second();
  return NULL;
}

static void near(double value, double expected) {
  if (value > expected * 0.99 && value < expected * 1.01)
    return;
  fprintf(stderr, "%.0f is more than 1 %% from %.0f\n", value, expected);
  exit(1);
}

int main(void) {
  // Threads that use the clock for the first time all get a rate, and the same
  // one.
  uint64_t rates[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, ask, &rates[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);

  // Each reading of one clock lies between two readings of the other.
  uint64_t before = monotonic(), start = mprof_clock_now();
  uint64_t first = monotonic();
  struct timespec t = {.tv_sec = 0, .tv_nsec = 200000000};
  nanosleep(&t, NULL);
  uint64_t last = monotonic();
  uint64_t ticks = mprof_clock_now() - start, after = monotonic();
  double rate = (double)mprof_clock_ticks_per_second();
  CHECK((double)ticks / rate * 1e9 > (double)(last - first) * 0.99);
  CHECK((double)ticks / rate * 1e9 < (double)(after - before) * 1.01);
  for (int i = 0; i < 4; i++)
    near((double)rates[i], rate);
  near((double)mprof_clock_ns(mprof_clock_ticks(1000000000)), 1e9);
  near((double)mprof_clock_ticks(1000000), rate / 1000);

  uint64_t last_tick = mprof_clock_now();
  for (int i = 0; i < 100000; i++) {
    uint64_t now = mprof_clock_now();
    CHECK(now >= last_tick);
    last_tick = now;
  }

  mprof_clock_set(injected, 2500000000);
  CHECK_EQ(mprof_clock_now(), 4711);
  CHECK_EQ(mprof_clock_ticks_per_second(), 2500000000);
  CHECK_EQ(mprof_clock_ticks(0), 0);
  CHECK_EQ(mprof_clock_ticks(1), 2);
  CHECK_EQ(mprof_clock_ticks(1000), 2500);
  CHECK_EQ(mprof_clock_ticks(UINT64_MAX), INT64_MAX);
  CHECK_EQ(mprof_clock_ns(0), 0);
  CHECK_EQ(mprof_clock_ns(2500), 1000);
  CHECK_EQ(mprof_clock_ns(4), 2); // 1.6, rounded
  mprof_clock_set(injected, 1000);
  CHECK_EQ(mprof_clock_ticks(1), 1); // from a millionth
  CHECK_EQ(mprof_clock_ticks(999999), 1);
  CHECK_EQ(mprof_clock_ticks(3000000), 3);
  CHECK_EQ(mprof_clock_ns(3), 3000000);
  mprof_clock_set(NULL, 0);
  CHECK(mprof_clock_now() > last_tick);
  return 0;
}
