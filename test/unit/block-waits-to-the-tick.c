// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: waits and releases are recorded exactly to the tick. A stack begins
// with the hooked function. A wait ends at the release, even if the waiter runs
// later. A wait that times out ends at its timeout. A call that did not wait
// and a release that failed record nothing.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "block_rate=1:mutex_fraction=1:block_kinds=sync+try"

#include "bucket/bucket.h"
#include "entry/entry_lock.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include "core.h"

static uint64_t time_now = 100;
static uint64_t clock_fn(void) { return time_now; }

static void op(void) {}
#define OP ((uintptr_t)op)
#define NEW_LOCK (lock += 64)
static uintptr_t lock = 0x10000;

// The counts in the bucket of a lock, or in all buckets without a lock.
struct counts {
  double count;
  uint64_t cycles;
  unsigned buckets;
  const struct mprof_bucket *bucket;
};
static struct counts counts(enum mprof_bucket_type type, uintptr_t object) {
  struct counts c = {0, 0, 0, NULL};
  for (struct mprof_bucket *b = mprof_bucket_first(type); b; b = b->allnext) {
    if (b->object != object || atomic_load(&b->wait.count) == 0)
      continue;
    c.count += (double)atomic_load(&b->wait.count) / (double)MPROF_COUNT_ONE;
    c.cycles += atomic_load(&b->wait.cycles);
    c.buckets++;
    c.bucket = b;
  }
  return c;
}

#define EXPECT(type, object, expected_count, expected_cycles)                  \
  do {                                                                         \
    struct counts c_ = counts(MPROF_BUCKET_##type, object);                    \
    CHECK_EQ(c_.count, expected_count);                                        \
    CHECK_EQ(c_.cycles, expected_cycles);                                      \
  } while (0)

static MPROF_NOINLINE void wait_for(uint64_t released, uint64_t until,
                                    enum mprof_outcome outcome) {
  struct mprof_wait w;
  mprof_wait_begin(&w, MPROF_KIND_mutex, OP, ENTRY_FRAME, lock);
  if (released != 0) {
    struct mprof_release r;
    time_now = released;
    mprof_release_begin(&r, lock, MPROF_WAKES_NEXT_OWNER, OP, ENTRY_FRAME);
    mprof_release_end(&r, true, MPROF_KIND_mutex, OP, ENTRY_FRAME);
  }
  time_now = until;
  mprof_wait_end(&w, outcome);
  __asm__ volatile("");
}

static void ends(void) {
  NEW_LOCK;
  wait_for(140, 190, MPROF_GOT); // began at 100
  EXPECT(BLOCK, lock, 1, 40);
  EXPECT(MUTEX, lock, 1, 40);
  const struct mprof_bucket *b = counts(MPROF_BUCKET_BLOCK, lock).bucket;
  CHECK_EQ(b->kind, MPROF_KIND_mutex);
  CHECK_EQ(b->stack[0], mprof_op_pc(OP));
  // ENTRY_FRAME is the frame of wait_for, so the stack goes on with its return
  // address.
  CHECK(b->stack[1] > (mprof_pc)ends && b->stack[1] < (mprof_pc)ends + 600);

  NEW_LOCK;
  wait_for(0, 200, MPROF_GOT); // not released: lasts to the end
  EXPECT(BLOCK, lock, 1, 10);
  EXPECT(MUTEX, lock, 0, 0);
  NEW_LOCK;
  wait_for(210, 230, MPROF_TIMEOUT); // released, but another thread got it
  EXPECT(BLOCK, lock, 1, 30);
  EXPECT(MUTEX, lock, 1, 10);
  NEW_LOCK;
  wait_for(240, 250, MPROF_NO_WAIT);
  EXPECT(BLOCK, lock, 0, 0);
  CHECK_EQ(__mprof_waiters[mprof_waiter_slot(lock)] & ~MPROF_WAITER_NOTES, 0);
  // A wait of no or negative time counts as one tick.
  NEW_LOCK;
  wait_for(0, 250, MPROF_TIMEOUT);
  EXPECT(BLOCK, lock, 1, 1);
  NEW_LOCK;
  wait_for(0, 240, MPROF_TIMEOUT);
  EXPECT(BLOCK, lock, 1, 1);
}

static MPROF_NOINLINE void release(uintptr_t object, bool success) {
  struct mprof_release r;
  mprof_release_begin(&r, object, MPROF_WAKES_NEXT_OWNER, OP, ENTRY_FRAME);
  mprof_release_end(&r, success, MPROF_KIND_mutex, OP, ENTRY_FRAME);
  __asm__ volatile("");
}

static void releases(void) {
  struct mprof_wait a, b;
  uintptr_t l = NEW_LOCK;
  release(l, true); // without a waiter
  EXPECT(MUTEX, l, 0, 0);
  time_now = 1000;
  mprof_wait_begin(&a, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  time_now = 1010;
  mprof_wait_begin(&b, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  time_now = 1050;
  release(l, false); // by a thread that does not hold it
  EXPECT(MUTEX, l, 0, 0);
  time_now = 1100;
  release(l, true);
  EXPECT(MUTEX, l, 1, 100 + 90);
  mprof_wait_end(&a, MPROF_GOT);
  time_now = 1160;
  release(l, true);
  EXPECT(MUTEX, l, 2, 100 + 90 + 60);
  time_now = 1200;
  mprof_wait_end(&b, MPROF_GOT);
  EXPECT(BLOCK, l, 2, 100 + 150);
  release(l, true);
  EXPECT(MUTEX, l, 2, 250);
}

MPROF_ENTRY int __mprof_pthread_mutex_unlock(pthread_mutex_t *m);

// Stores the value that a mutex has while a thread sleeps for it.
static void sleep_for(pthread_mutex_t *m) { m->__data.__lock = 2; }

// A thread that an unlock has woken takes a while to run. The unlocker may take
// and release the mutex meanwhile: no thread sleeps because of that, so it is
// not charged. (Go: semrelease)
static void woken_is_on_its_way(int type, bool is_always_charged) {
  pthread_mutexattr_t attr;
  pthread_mutex_t m;
  struct mprof_wait w;
  uintptr_t l = (uintptr_t)&m;
  struct counts was = counts(MPROF_BUCKET_MUTEX, l);
  pthread_mutexattr_init(&attr);
  if (is_always_charged)
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_settype(&attr, type);
  CHECK_EQ(pthread_mutex_init(&m, &attr), 0);
  time_now = 3000;
  pthread_mutex_lock(&m);
  mprof_wait_begin(&w, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  time_now = 3010; // the thread does not sleep yet
  __mprof_pthread_mutex_unlock(&m);
  EXPECT(MUTEX, l, was.count + 1, was.cycles + 10);
  for (time_now = 3020; time_now < 3050; time_now += 10) {
    pthread_mutex_lock(&m);
    __mprof_pthread_mutex_unlock(&m);
  }
  if (is_always_charged)
    EXPECT(MUTEX, l, was.count + 4, was.cycles + 40);
  else
    EXPECT(MUTEX, l, was.count + 1, was.cycles + 10);
  pthread_mutex_lock(&m);
  if (!is_always_charged)
    sleep_for(&m); // the thread found the mutex locked again
  time_now = 3100;
  __mprof_pthread_mutex_unlock(&m);
  EXPECT(MUTEX, l, was.count + (is_always_charged ? 5 : 2), was.cycles + 100);
  mprof_wait_end(&w, MPROF_GOT);
  pthread_mutex_destroy(&m);
}

static void woken(void) {
  woken_is_on_its_way(PTHREAD_MUTEX_NORMAL, false);
  woken_is_on_its_way(PTHREAD_MUTEX_RECURSIVE, false);
  woken_is_on_its_way(PTHREAD_MUTEX_ERRORCHECK, false);
  woken_is_on_its_way(PTHREAD_MUTEX_ADAPTIVE_NP, false);
  // A robust mutex uses its word differently, so each unlock is charged.
  woken_is_on_its_way(PTHREAD_MUTEX_NORMAL, true);
}

static MPROF_NOINLINE void call(enum mprof_kind kind, enum mprof_outcome end) {
  struct mprof_wait w;
  time_now = 2000;
  mprof_call_begin(&w, kind, OP + 64, ENTRY_FRAME);
  time_now = 2030;
  mprof_wait_end(&w, end);
  __asm__ volatile("");
}

static void calls(void) {
  struct counts before = counts(MPROF_BUCKET_BLOCK, 0);
  call(MPROF_KIND_join, MPROF_GOT);
  call(MPROF_KIND_join, MPROF_NO_WAIT);
  call(MPROF_KIND_io, MPROF_GOT); // not in block_kinds
  EXPECT(BLOCK, 0, before.count + 1, before.cycles + 30);
  CHECK_EQ(counts(MPROF_BUCKET_BLOCK, 0).bucket->kind, MPROF_KIND_join);
  uintptr_t l = NEW_LOCK;
  mprof_try_failed(OP, ENTRY_FRAME, l);
  EXPECT(BLOCK, l, 1, 1);
  CHECK_EQ(counts(MPROF_BUCKET_BLOCK, l).bucket->kind, MPROF_KIND_try);
}

// An event in a signal handler that interrupts the runtime is lost and counted
// as lost.
static void interrupted(void) {
  uint64_t before = mprof_stat_get(MPROF_STAT_reentrant);
  struct mprof_wait w;
  uintptr_t l = NEW_LOCK;
  mprof_guard_enter();
  mprof_wait_begin(&w, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  CHECK_EQ(w.start, 0);
  mprof_wait_end(&w, MPROF_GOT);
  release(l, true);
  mprof_try_failed(OP, ENTRY_FRAME, l);
  mprof_guard_leave();
  CHECK_EQ(mprof_stat_get(MPROF_STAT_reentrant), before + 3);
  EXPECT(BLOCK, l, 0, 0);
}

// A wait that begins in the parent and ends in the child is not recorded there.
static void stale(void) {
  struct mprof_wait w;
  uintptr_t l = NEW_LOCK;
  mprof_wait_begin(&w, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  w.epoch--;
  time_now += 50;
  mprof_wait_end(&w, MPROF_GOT);
  EXPECT(BLOCK, l, 0, 0);
  w.epoch++;
  mprof_wait_end(&w, MPROF_GOT);
  EXPECT(BLOCK, l, 1, 50);
}

// A wait during which the rate is set to 0 is not recorded, and leaves the
// table.
static void switched_off(void) {
  struct mprof_wait w;
  uintptr_t l = NEW_LOCK;
  mprof_wait_begin(&w, MPROF_KIND_mutex, OP, ENTRY_FRAME, l);
  mprof_set_block_rate(0);
  mprof_set_mutex_fraction(0);
  time_now += 10;
  release(l, true);
  mprof_wait_end(&w, MPROF_GOT);
  EXPECT(BLOCK, l, 0, 0);
  EXPECT(MUTEX, l, 0, 0);
  CHECK_EQ(__mprof_waiters[mprof_waiter_slot(l)] & ~MPROF_WAITER_NOTES, 0);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_hooked_find_all(); // the test calls entries
  mprof_clock_set(clock_fn, 1000000000);
  // The runtime converts the rate with the real clock.
  mprof_set_block_rate(1);
  ends();
  releases();
  woken();
  calls();
  interrupted();
  stale();
  switched_off();
  return 0;
}
