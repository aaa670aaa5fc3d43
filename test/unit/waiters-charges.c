// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a release of a lock is charged with the time that the lock's waiters
// have waited since the last release or since they came. The sum is exact for
// any number of waiters that come and go in any order. A waiter learns when the
// lock was last released.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "lock_wait/waiters.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_rows.h"

#include "core.h"

static uint64_t time_now = 1;
static uint64_t clock_fn(void) { return time_now; }

static uint64_t leave(uintptr_t object, uint64_t start) {
  struct mprof_trace_mark mark;
  uint64_t released = mprof_waiters_leave(object, start, &mark, NULL, NULL);
  CHECK(mark.buf == NULL); // no release had a mark
  return released;
}

static uint64_t charge_at(uintptr_t lock, uint64_t t) {
  time_now = t;
  return mprof_waiters_charge(lock, MPROF_WAKES_NEXT_OWNER, NULL, false).ticks;
}

static void enter_at(uintptr_t lock, uint64_t t) {
  time_now = t;
  CHECK(mprof_waiters_enter(lock, 0, t, NULL));
}

static uint32_t word(uintptr_t lock) {
  return __mprof_waiters[mprof_waiter_slot(lock)] & ~MPROF_WAITER_CAME;
}

static bool has_come(uintptr_t lock) {
  return __mprof_waiters[mprof_waiter_slot(lock)] & MPROF_WAITER_CAME;
}

// An unlock may skip its charge only if no waiter has come since the last
// charge.
static void newcomers(uintptr_t a) {
  CHECK(!has_come(a));
  enter_at(a, 100);
  CHECK(has_come(a));
  CHECK_EQ(charge_at(a, 110), 10);
  CHECK(!has_come(a));
  enter_at(a, 120);
  CHECK(has_come(a));
  struct mprof_charge c = mprof_waiters_charge(a, MPROF_WAKES_ALL, NULL, false);
  mprof_waiters_uncharge(a, &c);
  CHECK(has_come(a)); // the charge was taken back
  leave(a, 100);
  leave(a, 120);
  CHECK(!has_come(a));
}

static void several_waiters(uintptr_t a) {
  enter_at(a, 100);
  CHECK_EQ(word(a), 1);
  enter_at(a, 130);
  enter_at(a, 190);
  CHECK_EQ(word(a), 1); // number of locks, not of waiters
  CHECK_EQ(charge_at(a, 200), 100 + 70 + 10);
  // One waiter has got the lock; the time of the others is charged up to now.
  CHECK_EQ(leave(a, 130), 200);
  CHECK_EQ(charge_at(a, 250), 2 * 50);
  CHECK_EQ(charge_at(a, 250), 0);
  enter_at(a, 260);
  CHECK_EQ(charge_at(a, 300), 2 * 50 + 40);
  CHECK_EQ(leave(a, 260), 300);
  CHECK_EQ(leave(a, 100), 300);
  CHECK_EQ(charge_at(a, 400), 100);
  CHECK_EQ(leave(a, 190), 400);
  CHECK_EQ(word(a), 0);
  CHECK_EQ(charge_at(a, 500), 0);
}

// A thread that is woken and finds the lock taken again waits on. Each release
// is charged with its slice of the wait, and the slices add up to the wait.
static void barging(uintptr_t a) {
  uint64_t sum = 0;
  enter_at(a, 1000);
  for (uint64_t t = 1010; t <= 1100; t += 10) {
    uint64_t slice = charge_at(a, t);
    CHECK_EQ(slice, 10);
    sum += slice;
  }
  CHECK_EQ(sum, 100);
  CHECK_EQ(leave(a, 1000), 1100);
}

// A waiter that gives up takes its time along; what was charged stays charged.
static void timeout(uintptr_t a) {
  enter_at(a, 2000);
  enter_at(a, 2010);
  time_now = 2050;
  CHECK_EQ(leave(a, 2000), 0); // never released since
  CHECK_EQ(charge_at(a, 2060), 50);
  enter_at(a, 2070);
  CHECK_EQ(leave(a, 2070), 0); // released before, but not since
  CHECK_EQ(charge_at(a, 2080), 20);
  CHECK_EQ(leave(a, 2010), 2080);
  CHECK_EQ(word(a), 0);
}

// A failed release is charged with nothing, and the next release with all the
// time, even if a waiter has left in between.
static void uncharge(uintptr_t a) {
  enter_at(a, 3000);
  enter_at(a, 3010);
  time_now = 3040;
  struct mprof_charge c = mprof_waiters_charge(a, MPROF_WAKES_ALL, NULL, false);
  CHECK_EQ(c.ticks, 70);
  mprof_waiters_uncharge(a, &c);
  CHECK_EQ(leave(a, 3010), 0); // it was not released
  CHECK_EQ(charge_at(a, 3100), 100);
  mprof_waiters_uncharge(a, &c); // another thread has released it since
  CHECK_EQ(charge_at(a, 3101), 1);
  leave(a, 3000);
  mprof_waiters_uncharge(a, &c); // no waiter is left
  CHECK_EQ(word(a), 0);
  enter_at(a, 3200);
  CHECK_EQ(charge_at(a, 3201), 1);
  leave(a, 3200);
}

// A waiter that leaves or comes while a release fails takes its own time along.
static void uncharge_after_changes(uintptr_t a) {
  enter_at(a, 3300);
  enter_at(a, 3310);
  time_now = 3340;
  struct mprof_charge c = mprof_waiters_charge(a, MPROF_WAKES_ALL, NULL, false);
  CHECK_EQ(c.ticks, 70);
  leave(a, 3300);
  CHECK(mprof_waiters_enter(a, 0, 3335, NULL));
  mprof_waiters_uncharge(a, &c);
  CHECK_EQ(charge_at(a, 3350), 40 + 15);
  leave(a, 3310);
  CHECK_EQ(charge_at(a, 3360), 10);
  leave(a, 3335);
}

// Locks whose addresses have the same hash share a word of __mprof_waiters, but
// no times.
static void one_slot(uintptr_t a) {
  uintptr_t b = a + 64 * MPROF_WAITER_SLOTS, c = a + 8;
  CHECK_EQ(mprof_waiter_slot(a), mprof_waiter_slot(b));
  CHECK_EQ(mprof_waiter_slot(a), mprof_waiter_slot(c));
  CHECK(mprof_waiter_slot(a) != mprof_waiter_slot(a + 64));
  enter_at(a, 4000);
  enter_at(b, 4010);
  enter_at(c, 4020);
  CHECK_EQ(word(a), 3);
  CHECK_EQ(word(a + 64), 0);
  CHECK_EQ(charge_at(b, 4100), 90);
  CHECK_EQ(charge_at(a, 4100), 100);
  CHECK_EQ(charge_at(c, 4100), 80);
  CHECK_EQ(leave(b, 4010), 4100);
  CHECK_EQ(word(a), 2);
  CHECK_EQ(charge_at(b, 4200), 0);
  CHECK_EQ(charge_at(a, 4200), 100);
  leave(a, 4000);
  leave(c, 4020);
  CHECK_EQ(word(a), 0);
}

// The clocks of two processors may differ: no wait is shorter than 0.
static void clocks_differ(uintptr_t a) {
  enter_at(a, 5010);
  CHECK_EQ(charge_at(a, 5000), 0);
  CHECK_EQ(charge_at(a, 5030), 20);
  CHECK_EQ(charge_at(a, 5020), 0);
  CHECK_EQ(charge_at(a, 5040), 10);
  enter_at(a, 5040);
  CHECK_EQ(charge_at(a, 5035), 0);
  CHECK_EQ(leave(a, 5010), 5040);
  CHECK_EQ(charge_at(a, 5050), 10);
  leave(a, 5040);
  enter_at(a, 5100);
  CHECK_EQ(charge_at(a, 5100), 0);
  leave(a, 5100);
  CHECK_EQ(word(a), 0);
}

// A thread that read the clock before a release and entered the table after it
// has not waited for that release.
static void late_entry(uintptr_t a) {
  enter_at(a, 7000);
  CHECK_EQ(charge_at(a, 7100), 100);
  time_now = 7105;
  CHECK(mprof_waiters_enter(a, 0, 7090, NULL));
  CHECK(mprof_waiters_enter(a, 0, 7100, NULL));
  CHECK_EQ(leave(a, 7100), 0);
  CHECK_EQ(charge_at(a, 7110), 10 + 10);
  CHECK_EQ(leave(a, 7090), 7110);
  CHECK_EQ(leave(a, 7000), 7110);
}

// A release of a lock without waiters, or the end of a wait that is not in the
// table, changes nothing.
static void strangers(uintptr_t a) {
  CHECK_EQ(charge_at(a, 6000), 0);
  CHECK_EQ(leave(a, 5999), 0);
  CHECK(!mprof_waiters_hold(a));
  CHECK_EQ(word(a), 1);
  CHECK(mprof_waiters_hold(a));
  enter_at(a, 6010);
  mprof_waiters_let_go(a);
  CHECK_EQ(charge_at(a, 6030), 20);
  leave(a, 6010);
  CHECK_EQ(word(a), 1); // held, without waiters
  mprof_waiters_let_go(a);
  CHECK_EQ(word(a), 0);
  mprof_waiters_let_go(a);
  CHECK_EQ(word(a), 0);
}

static void many(uintptr_t a) {
  enum { N = 5000 };
  uint64_t sum = 0;
  for (uint64_t i = 0; i < N; i++)
    enter_at(a, 10000 + i);
  for (uint64_t i = 0; i < N; i++)
    sum += 20000 - (10000 + i);
  CHECK_EQ(charge_at(a, 20000), sum);
  for (uint64_t i = 0; i < N; i++)
    CHECK_EQ(leave(a, 10000 + i), 20000);
  CHECK_EQ(word(a), 0);
  // The memory of waiters that have left is used again.
  size_t used = mprof_persistent_used();
  for (uint64_t i = 0; i < N; i++) {
    enter_at(a + i, 30000);
    leave(a + i, 30000);
  }
  CHECK(mprof_persistent_used() - used <= 80 * 128); // one per slot
}

// A release is in the trace if there are waiters, at the time that it is
// charged for. Its mark is for a thread that it woke, not for a thread that
// timed out, and is dropped with the last waiter.
static void marks(uintptr_t a) {
  static _Alignas(64) char memory[MPROF_TRACE_SMALL_SIZE];
  struct mprof_trace_buf *buf = (struct mprof_trace_buf *)memory;
  struct mprof_trace_row row = {.last = buf};
  const struct mprof_trace_waker waker = {.row = &row, .stack = 7};
  struct mprof_trace_mark mark = {.buf = NULL};
  buf->len = 0;
  time_now = 49000;
  CHECK_EQ(mprof_waiters_charge(a, MPROF_WAKES_ONE, &waker, false).ticks, 0);
  CHECK_EQ(buf->len, 0);
  enter_at(a, 50000);
  enter_at(a, 50000);
  time_now = 51000;
  CHECK_EQ(mprof_waiters_charge(a, MPROF_WAKES_ONE, &waker, false).ticks,
           2 * 1000);
  CHECK(buf->len != 0);
  time_now = 52000;
  CHECK_EQ(mprof_waiters_charge(a, MPROF_WAKES_ONE, &waker, false).ticks,
           2 * 1000);
  CHECK_EQ(mprof_waiters_leave(a, 50000, NULL, NULL, NULL), 52000);
  CHECK_EQ(mprof_waiters_leave(a, 50000, &mark, NULL, NULL), 52000);
  CHECK(mark.buf == buf);
  CHECK_EQ(mark.stack, 7);
  CHECK_EQ(mark.ticks, 51000 / MPROF_TRACE_TICK_DIV);
  enter_at(a, 50000); // in a record that was used before
  CHECK_EQ(charge_at(a, 53000), 3000);
  leave(a, 50000);
}

static void forked(uintptr_t a) {
  enter_at(a, 40000);
  mprof_waiters_reset();
  CHECK_EQ(word(a), 0);
  CHECK_EQ(charge_at(a, 41000), 0);
  CHECK_EQ(leave(a, 40000), 0);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_clock_set(clock_fn, 1000000000);
  mprof_guard_enter();
  void (*const tests[])(uintptr_t) = {several_waiters,
                                      barging,
                                      timeout,
                                      uncharge,
                                      uncharge_after_changes,
                                      one_slot,
                                      clocks_differ,
                                      late_entry,
                                      strangers,
                                      many,
                                      newcomers,
                                      marks,
                                      forked};
  // Each test has a slot of its own. In the second round, the slots have been
  // used before.
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
      tests[i](0x7000000 + i * 64);
  mprof_guard_leave();
  return 0;
}
