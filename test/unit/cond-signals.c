// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that a signal of a condition has woken counts, from then on,
// as a waiter for the condition's mutex. Each signal is matched with at most
// one woken thread. A woken thread is matched with the oldest signal that can
// have woken it. If too many signals are pending, only the times that would be
// charged for the further signals are lost. If a thread that MProf does not
// know also waits for the condition, MProf counts no thread as woken by a
// signal.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "lock_wait/waiters.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/tls.h"

#include "core.h"

#include <pthread.h>

static uint64_t time_now = 1;
static uint64_t clock_fn(void) { return time_now; }

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
#define COND ((uintptr_t)&cond)
enum { MUTEX = 0x20040 };

// Changes glibc's count of the threads that wait for the condition.
static void change_known(int n) { cond.__data.__wrefs += (unsigned)n * 8; }

static struct mprof_signal signal_at(uint64_t t, enum mprof_wakes wakes) {
  time_now = t;
  return mprof_waiters_charge(COND, wakes, NULL, false).signal;
}
static uint64_t unlock_at(uint64_t t) {
  time_now = t;
  return mprof_waiters_charge(MUTEX, MPROF_WAKES_NEXT_OWNER, NULL, false).ticks;
}
static void wait_at(uint64_t t) {
  change_known(1);
  CHECK(mprof_waiters_enter(COND, MUTEX, t, NULL));
}
static struct mprof_signal leave(uint64_t start) {
  struct mprof_signal s;
  change_known(-1);
  mprof_waiters_leave(COND, start, NULL, &s, NULL);
  return s;
}
static bool is_waited_for(uintptr_t object) {
  return __mprof_waiters[mprof_waiter_slot(object)] != 0;
}

static void one_by_one(void) {
  wait_at(100);
  wait_at(110);
  struct mprof_signal first = signal_at(200, MPROF_WAKES_ONE);
  CHECK_EQ(first.woken, 1);
  mprof_waiters_count_woken(COND, &first);
  struct mprof_signal second = signal_at(300, MPROF_WAKES_ONE);
  CHECK_EQ(second.woken, 1);
  mprof_waiters_count_woken(COND, &second);
  // Both waiters are woken, so a third signal wakes none.
  CHECK_EQ(signal_at(310, MPROF_WAKES_ONE).woken, 0);
  CHECK_EQ(unlock_at(400), 200 + 100);
  struct mprof_signal s = leave(100);
  CHECK(s.is_counted && s.mutex == MUTEX && s.time == 200);
  CHECK_EQ(mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL), 400);
  CHECK_EQ(unlock_at(450), 50);
  s = leave(110);
  CHECK(s.is_counted && s.time == 300);
  CHECK_EQ(mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL), 450);
}

static void all_at_once(void) {
  for (int i = 0; i < 5; i++)
    wait_at(1000);
  struct mprof_signal all = signal_at(1100, MPROF_WAKES_ALL);
  CHECK_EQ(all.woken, 5);
  mprof_waiters_count_woken(COND, &all);
  CHECK_EQ(unlock_at(1110), 50);
  for (int i = 0; i < 5; i++) {
    struct mprof_signal s = leave(1000);
    CHECK(s.is_counted && s.time == 1100);
    CHECK_EQ(mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL), 1110);
  }
}

static void returns_before_it_is_counted(void) {
  wait_at(2000);
  wait_at(2000);
  struct mprof_signal all = signal_at(2100, MPROF_WAKES_ALL);
  CHECK(!leave(2000).is_counted);
  mprof_waiters_count_woken(COND, &all);
  CHECK_EQ(unlock_at(2110), 10); // one waiter is left
  struct mprof_signal s = leave(2000);
  CHECK(s.is_counted);
  mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL);

  wait_at(2200);
  struct mprof_signal one = signal_at(2300, MPROF_WAKES_ONE);
  CHECK(!leave(2200).is_counted);
  mprof_waiters_count_woken(COND, &one); // the condition has no waiter any more
}

static void timeouts(void) {
  // A thread whose time has run out takes no signal of another thread.
  wait_at(3000);
  struct mprof_signal one = signal_at(3005, MPROF_WAKES_ONE);
  mprof_waiters_count_woken(COND, &one);
  wait_at(3010);
  CHECK_EQ(leave(3010).time, 0);
  struct mprof_signal s = leave(3000);
  CHECK(s.is_counted && s.time == 3005);
  mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL);
  // The last waiter takes a signal that no other waiter has taken, even if the
  // signal was sent earlier.
  wait_at(3100);
  one = signal_at(3200, MPROF_WAKES_ONE);
  mprof_waiters_count_woken(COND, &one);
  wait_at(3300);
  CHECK_EQ(leave(3300).time, 0);
  wait_at(3400);
  s = leave(3400);
  CHECK_EQ(s.time, 0);
  s = leave(3100);
  CHECK_EQ(s.time, 3200);
  mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL);
}

static void full_list(void) {
  struct mprof_signal s;
  for (unsigned i = 0; i < MPROF_SIGNALS + 3; i++)
    wait_at(4000);
  for (unsigned i = 0; i < MPROF_SIGNALS + 3; i++) {
    s = signal_at(4100 + i, MPROF_WAKES_ONE);
    CHECK_EQ(s.woken, i < MPROF_SIGNALS);
    if (s.woken)
      mprof_waiters_count_woken(COND, &s);
  }
  for (unsigned i = 0; i < MPROF_SIGNALS + 3; i++) {
    s = leave(4000);
    CHECK_EQ(s.is_counted, i < MPROF_SIGNALS);
    if (s.is_counted)
      mprof_waiters_leave(MUTEX, s.time, NULL, NULL, NULL);
  }
}

// If a thread that is not in the table waits, too, the signal may have woken
// that thread.
static void unknown_waiter(void) {
  change_known(1);
  wait_at(5000);
  CHECK_EQ(signal_at(5100, MPROF_WAKES_ONE).woken, 0);
  CHECK_EQ(signal_at(5200, MPROF_WAKES_ALL).woken, 0);
  CHECK_EQ(leave(5000).time, 0);
  change_known(-1);
  // A thread that is in the table but not in libc's count does not sleep yet.
  wait_at(5300);
  change_known(-1);
  CHECK_EQ(signal_at(5400, MPROF_WAKES_ONE).woken, 0);
  change_known(1);
  CHECK_EQ(leave(5300).time, 0);
}

int main(void) {
  void (*const cases[])(void) = {
      one_by_one, all_at_once, returns_before_it_is_counted,
      timeouts,   full_list,   unknown_waiter};
  CHECK(mprof_process_ready());
  mprof_clock_set(clock_fn, 1000000000);
  CHECK(mprof_guard_enter());
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    cases[i]();
    CHECK(!is_waited_for(COND) && !is_waited_for(MUTEX));
  }
  mprof_guard_leave();
  return 0;
}
