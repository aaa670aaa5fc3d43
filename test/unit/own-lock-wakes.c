// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that waits for one of MProf's own locks sleeps until a
// release of the lock wakes it, and never wakes by itself. Two threads never
// hold the lock at the same time. The number of wake-ups depends on the number
// of sleeps, so most releases make no system call.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_sys_futex_wait,--wrap=mprof_sys_futex_wake \
// RUN:   -Wl,--wrap=mprof_sys_futex_wait_ms
// RUN: timeout 600 %t

#include "core.h"

#include "sys/lock.h"
#include "sys/os.h"
#include "sys/tls.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, TIMES = 30000, LONG_EACH = 100 };

static struct mprof_lock lock = MPROF_LOCK_INIT(MPROF_RANK_MEMORY);
static unsigned held; // guarded by the lock
static _Atomic unsigned waits, timed_waits, wakes;

void __real_mprof_sys_futex_wait(atomic_uint *word, unsigned value);
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value);
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value) {
  waits++;
  __real_mprof_sys_futex_wait(word, value);
}

void __wrap_mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value,
                                    uint64_t ms);
void __wrap_mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value,
                                    uint64_t ms) {
  (void)ms;
  timed_waits++;
  __real_mprof_sys_futex_wait(word, value);
}

void __real_mprof_sys_futex_wake(atomic_uint *word);
void __wrap_mprof_sys_futex_wake(atomic_uint *word);
void __wrap_mprof_sys_futex_wake(atomic_uint *word) {
  wakes++;
  __real_mprof_sys_futex_wake(word);
}

static void *take_once(void *arg) {
  mprof_guard_enter();
  mprof_lock_acquire(&lock);
  held++;
  mprof_lock_release(&lock);
  mprof_guard_leave();
  return arg;
}

static void woken(void) {
  pthread_t thread;
  mprof_guard_enter();
  mprof_lock_acquire(&lock);
  mprof_guard_leave();
  CHECK_EQ(pthread_create(&thread, NULL, take_once, NULL), 0);
  while (waits == 0)
    usleep(100);
  usleep(20000); // the waiter sleeps, if the machine lets it
  mprof_guard_enter();
  mprof_lock_release(&lock);
  mprof_guard_leave();
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(held, 1);
}

static void *take(void *arg) {
  for (int i = 0; i < TIMES; i++) {
    mprof_guard_enter();
    mprof_lock_acquire(&lock);
    const unsigned before = ++held;
    if (i % LONG_EACH == 0)
      usleep(1); // longer than other threads spin before they sleep
    CHECK_EQ(held, before);
    mprof_lock_release(&lock);
    mprof_guard_leave();
    if (i % 7 == 0)
      sched_yield();
  }
  return arg;
}

static void wanted_by_many(void) {
  pthread_t threads[THREADS];
  held = waits = wakes = 0;
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, take, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(held, THREADS * TIMES);
  CHECK(waits > 0);
  CHECK_EQ(timed_waits, 0);
  // At most one wake for each thread that came to wait, and one for each that
  // has waited.
  CHECK(wakes <= 2 * waits + THREADS);
}

int main(void) {
  woken();
  wanted_by_many();
  return 0;
}
