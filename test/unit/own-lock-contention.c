// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with own=1, contention for MProf's own locks is in the mutex profile,
// at the release for which other threads waited. The time equals the time that
// these threads have waited. If a thread delays others at several releases
// while it holds another lock, only one of these stacks is recorded. The
// remaining time is at a pseudo function, which is absent if no time remains.
//
// RUN: %unit -D_GNU_SOURCE -fno-omit-frame-pointer %s %rtlib -o %t && %t

// The clock advances only when the holder of a lock advances it while another
// thread waits. All sums are therefore exact.
#define TEST_OPTIONS "mutex_fraction=1:own=1"

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include "core.h"

#include <pthread.h>
#include <unistd.h>

static _Atomic uint64_t time_now = 1000;
// Set if the runtime read the clock while it stored an event, which disables
// the profile of its own locks.
static atomic_bool was_disabled;
static uint64_t clock_fn(void) {
  if (mprof_tls.lock_profile.disabled)
    atomic_store(&was_disabled, true);
  return atomic_load(&time_now);
}

static struct mprof_lock outer = MPROF_LOCK_INIT(MPROF_RANK_WRITE);
static struct mprof_lock inner = MPROF_LOCK_INIT(MPROF_RANK_REGISTRY);
static struct mprof_lock last = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);

static void until_waited_for(struct mprof_lock *l) {
  while (atomic_load(&l->waiting) >> 48 == 0)
    usleep(100);
}

static void *take(void *lock) {
  mprof_guard_enter();
  mprof_lock_acquire(lock);
  mprof_lock_release(lock);
  mprof_guard_leave();
  return NULL;
}

// Holds l until another thread has waited for it for so many ticks.
static MPROF_NOINLINE void hold(struct mprof_lock *l, uint64_t ticks) {
  pthread_t t;
  mprof_lock_acquire(l);
  mprof_guard_leave();
  CHECK_EQ(pthread_create(&t, NULL, take, l), 0);
  until_waited_for(l);
  mprof_guard_enter();
  atomic_fetch_add(&time_now, ticks);
  mprof_lock_release(l);
  mprof_guard_leave();
  pthread_join(t, NULL);
  mprof_guard_enter();
}

struct sums {
  uint64_t stacks, cycles, count, lost;
  bool has_pseudo;
};

static struct sums sums(void) {
  struct sums r = {0, 0, 0, 0, false};
  const mprof_pc pseudo =
      mprof_op_pc((uintptr_t)mprof_lost_contended_runtime_lock);
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MUTEX); b;
       b = b->allnext) {
    uint64_t cycles = atomic_load(&b->wait.cycles);
    CHECK_EQ(b->kind, MPROF_KIND_own);
    CHECK_EQ(b->object, 0);
    if (b->stack[0] == pseudo) {
      CHECK_EQ(b->stack_len, 1);
      r.has_pseudo = true;
      r.lost += cycles;
      continue;
    }
    CHECK(b->stack[0] > (mprof_pc)hold);
    CHECK(b->stack[0] < (mprof_pc)hold + 1000);
    r.stacks++;
    r.cycles += cycles;
    r.count += atomic_load(&b->wait.count) / MPROF_COUNT_ONE;
  }
  return r;
}

static void one_lock(void) {
  for (int i = 0; i < 100; i++)
    hold(&outer, 10);
  CHECK_EQ(mprof_lock_wait_ticks(), 1000);
  struct sums s = sums();
  CHECK_EQ(s.stacks, 1);
  CHECK_EQ(s.count, 100);
  CHECK_EQ(s.cycles, 1000);
  CHECK(!s.has_pseudo);
}

// While another lock is held, the event is kept until that lock is released.
static void nested(void) {
  mprof_lock_acquire(&outer);
  hold(&inner, 7);
  CHECK_EQ(mprof_tls.lock_profile.cycles, 7);
  CHECK_EQ(sums().cycles, 1000);
  mprof_lock_release(&outer);
  CHECK_EQ(mprof_tls.lock_profile.cycles, 0);
  struct sums s = sums();
  CHECK_EQ(s.stacks, 2);
  CHECK_EQ(s.cycles, 1007);
  CHECK_EQ(s.lost, 0);

  uint64_t lost = 0, kept = 0;
  for (int i = 0; i < 50; i++) {
    mprof_lock_acquire(&outer);
    hold(&inner, 3);
    hold(&last, 5);
    uint64_t k = mprof_tls.lock_profile.cycles;
    CHECK(k == 3 || k == 5);
    kept += k;
    lost += 8 - k;
    mprof_lock_release(&outer);
  }
  s = sums();
  CHECK_EQ(s.cycles, 1007 + kept);
  CHECK_EQ(s.lost, lost);
  CHECK_EQ(s.cycles + s.lost, mprof_lock_wait_ticks());
  // Neither of the two is always kept; the longer one is kept more often.
  CHECK(kept > 50 * 3 && kept < 50 * 5);
}

// Waits that a thread causes while it stores an event are lost: their time has
// no stack.
static void while_disabled(void) {
  struct sums before = sums();
  mprof_tls.lock_profile.disabled = true;
  hold(&inner, 11);
  CHECK_EQ(mprof_tls.lock_profile.cycles, 0);
  CHECK_EQ(mprof_tls.lock_profile.lost, 11);
  mprof_tls.lock_profile.disabled = false;
  CHECK_EQ(sums().cycles, before.cycles);
  hold(&inner, 13); // records this wait and the lost time
  struct sums s = sums();
  CHECK_EQ(s.cycles, before.cycles + 13);
  CHECK_EQ(s.lost, before.lost + 11);
}

// Storing takes the lock of the buckets. While another thread holds that lock,
// the test can see that profiling is disabled.
static pthread_t holder;
static atomic_int step;
static void *hold_insert_lock(void *arg) {
  mprof_guard_enter();
  mprof_lock_acquire(&mprof_insert_lock);
  atomic_store(&step, 1);
  until_waited_for(&mprof_insert_lock);
  mprof_lock_release(&mprof_insert_lock); // no thread has waited long for it
  mprof_guard_leave();
  return arg;
}

static MPROF_NOINLINE void release_elsewhere(void) {
  pthread_t t;
  mprof_lock_acquire(&inner);
  CHECK_EQ(pthread_create(&t, NULL, take, &inner), 0);
  until_waited_for(&inner);
  CHECK_EQ(pthread_create(&holder, NULL, hold_insert_lock, NULL), 0);
  while (atomic_load(&step) != 1)
    usleep(100);
  atomic_fetch_add(&time_now, 17);
  mprof_lock_release(&inner); // at a stack that has no bucket yet
  pthread_join(t, NULL);
  pthread_join(holder, NULL);
}

static void while_storing(void) {
  atomic_store(&was_disabled, false);
  release_elsewhere();
  CHECK(atomic_load(&was_disabled));
  CHECK(!mprof_tls.lock_profile.disabled);
}

// A thread without a record, and then with a record that has no buffers yet.
static void *hold_without_buffers(void *arg) {
  mprof_guard_enter();
  CHECK(mprof_tls.self == NULL);
  hold(&inner, 19);
  CHECK(mprof_tls.self == NULL);
  const struct mprof_thread *t = mprof_thread_self(false);
  CHECK(t != NULL && t->scratch == NULL);
  hold(&inner, 23);
  CHECK(t->scratch == NULL);
  mprof_guard_leave();
  return arg;
}

static void without_buffers(void) {
  pthread_t t;
  const struct sums before = sums();
  mprof_guard_leave();
  CHECK_EQ(pthread_create(&t, NULL, hold_without_buffers, NULL), 0);
  pthread_join(t, NULL);
  mprof_guard_enter();
  const struct sums s = sums();
  CHECK_EQ(s.cycles, before.cycles + 19 + 23);
  CHECK_EQ(s.lost, before.lost);
}

static uint64_t total(void) {
  uint64_t sum = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MUTEX); b;
       b = b->allnext)
    sum += atomic_load(&b->wait.cycles);
  return sum;
}

static void switched_off(void) {
  mprof_guard_leave();
  CHECK_EQ(mprof_set_mutex_fraction(0), 1);
  mprof_guard_enter();
  uint64_t before = total(), ticks = mprof_lock_wait_ticks();
  for (int i = 0; i < 5; i++)
    hold(&inner, 100);
  CHECK_EQ(total(), before);
  CHECK_EQ(mprof_lock_wait_ticks(), ticks + 500);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_clock_set(clock_fn, 1000000000);
  mprof_guard_enter();
  CHECK(mprof_thread_self(true) != NULL);
  one_lock();
  nested();
  while_disabled();
  without_buffers();
  while_storing();
  switched_off();
  mprof_guard_leave();
  return 0;
}
