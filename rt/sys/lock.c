// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the runtime's own lock with a word and a futex. The runtime cannot
// use pthread_mutex, because the profiles hook its functions.
//
// The mutex profile also shows the time that threads wait for these locks. A
// release of a lock is charged with the waiting time of all waiters since the
// previous charge. To compute this time in one step, each lock has a word
// `waiting`. Its upper 16 bits are the number n of waiters. Its lower 48 bits
// are the sum of the times at which the waiters began to wait, modulo 2^48. At
// time t, the waiters together have waited for n * t - sum. waiters.c explains
// this formula.

#include "sys/lock.h"

#include "sys/arch.h"
#include "sys/assert.h"
#include "sys/clock.h"
#include "sys/os_linux.h"
#include "sys/tls.h"

enum { FREE, HELD, WAITED_FOR };

// Number of times that a thread checks the lock word before it gives up its
// processor. Most locks are held for only a few instructions, so a waiter
// seldom needs more checks.
#define SPINS 100

// Number of times that a thread then lets other threads run on its processor,
// and checks again, before it sleeps. A lock that is held so long has usually a
// holder that lost its processor, and continues soon. Sleeps would cost much
// more than the lock: the threads that wait may hold a lock of the program, and
// each of them would have to be woken by another one.
#define YIELDS 8

#define ONE_WAITER (UINT64_C(1) << 48)
#define SUM_MASK (ONE_WAITER - 1)

static _Atomic uint64_t wait_ticks;

uint64_t mprof_lock_wait_ticks(void) {
  return atomic_load_explicit(&wait_ticks, memory_order_relaxed);
}

#ifndef NDEBUG
// Bit r is set while the calling thread holds a lock of rank r.
static _Thread_local unsigned held;

static void note_acquire(const struct mprof_lock *l) {
  MPROF_ASSERT(mprof_tls.guard != 0);
  // The thread must not hold a lock of the same or a higher rank.
  MPROF_ASSERT(held >> l->rank == 0);
  held |= 1u << l->rank;
}

static void note_release(const struct mprof_lock *l) {
  MPROF_ASSERT(held >> l->rank & 1);
  held &= ~(1u << l->rank);
}

static void note_reset(void) { held = 0; }

bool mprof_lock_is_held(enum mprof_rank rank) { return held >> rank & 1; }
#else
static void note_acquire(const struct mprof_lock *l) { (void)l; }
static void note_release(const struct mprof_lock *l) { (void)l; }
static void note_reset(void) {}
#endif

void (*mprof_lock_observer)(uint64_t cycles, uintptr_t frame) MPROF_START_DATA;

// Stores in the thread's data that the thread holds the lock. No function is
// called between taking the lock and this store, so that a stack overflow there
// cannot leave a lock that mprof_locks_abandon does not find.
static void push_held(struct mprof_lock *l) {
  l->outer = mprof_tls.held;
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.held = l;
}

static bool try_acquire(struct mprof_lock *l) {
  unsigned free = FREE;
  if (!atomic_compare_exchange_strong_explicit(
          &l->word, &free, HELD, memory_order_acquire, memory_order_relaxed))
    return false;
  push_held(l);
  return true;
}

// Releases the lock that the thread took last. Returns whether a thread waits
// for it.
static bool free_last(struct mprof_lock *l) {
  MPROF_ASSERT(mprof_tls.held == l);
  mprof_tls.held = l->outer;
  atomic_signal_fence(memory_order_seq_cst);
  return atomic_exchange_explicit(&l->word, FREE, memory_order_release) ==
         WAITED_FOR;
}

static bool spin(struct mprof_lock *l) {
  for (int i = 0; i < SPINS; i++) {
    mprof_relax();
    if (atomic_load_explicit(&l->word, memory_order_relaxed) == FREE &&
        try_acquire(l))
      return true;
  }
  return false;
}

static bool yield(struct mprof_lock *l) {
  for (int i = 0; i < YIELDS; i++) {
    mprof_sys_yield();
    if (try_acquire(l))
      return true;
  }
  return false;
}

static void begin_waiting(struct mprof_lock *l, uint64_t start) {
  mprof_tls.awaited_since = start;
  mprof_tls.awaited = l;
  uint64_t w = atomic_load_explicit(&l->waiting, memory_order_relaxed), next;
  do
    next = ((w & ~SUM_MASK) + ONE_WAITER) | ((w + start) & SUM_MASK);
  while (!atomic_compare_exchange_weak(&l->waiting, &w, next));
}

// Removes the calling thread from l->waiting, which has the number of waiters
// and the sum of the times at which they began to wait. start: time at which
// the thread began to wait. When the waiters' delay is charged to a release,
// the time of each waiter in the sum becomes l->charged, the time of the
// charge. So the later one of the two times is subtracted. The caller holds the
// lock, so no release changes l->charged at the same time.
static void end_waiting(struct mprof_lock *l, uint64_t start) {
  uint64_t from = l->charged > start ? l->charged : start;
  uint64_t w = atomic_load_explicit(&l->waiting, memory_order_relaxed), next;
  do
    next = ((w & ~SUM_MASK) - ONE_WAITER) | ((w - from) & SUM_MASK);
  while (!atomic_compare_exchange_weak(&l->waiting, &w, next));
  mprof_tls.awaited = NULL;
}

static MPROF_NOINLINE void acquire_contended(struct mprof_lock *l) {
  uint64_t start = mprof_clock_now();
  begin_waiting(l, start);
  // The kernel wakes waiters in the order in which they came. A waiter sleeps
  // until a release wakes it: if waiters looked again after a time, thousands
  // of them would take all processor time from the holder of the lock.
  if (!spin(l) && !yield(l)) {
    while (atomic_exchange_explicit(&l->word, WAITED_FOR,
                                    memory_order_acquire) != FREE)
      mprof_sys_futex_wait(&l->word, WAITED_FOR);
    push_held(l);
  }
  end_waiting(l, start);
  uint64_t now = mprof_clock_now();
  if (now > start)
    atomic_fetch_add_explicit(&wait_ticks, now - start, memory_order_relaxed);
}

// Returns the time in ticks with which this release is charged: the total time
// that the waiters have waited since the previous charge. Sets the start times
// of all waiters to now.
static uint64_t charge(struct mprof_lock *l) {
  uint64_t w = atomic_load_explicit(&l->waiting, memory_order_relaxed);
  uint64_t owed, next;
  l->charged = mprof_clock_now();
  do {
    uint64_t sum = (w >> 48) * l->charged;
    owed = (sum - w) & SUM_MASK;
    next = (w & ~SUM_MASK) | (sum & SUM_MASK);
  } while (!atomic_compare_exchange_weak(&l->waiting, &w, next));
  // The clock of a waiter's processor may be some ticks ahead of the clock of
  // this processor. The total may then be negative; a negative total counts as
  // 0.
  return owed >> 47 ? 0 : owed;
}

void mprof_lock_acquire(struct mprof_lock *l) {
  note_acquire(l);
  if (mprof_unlikely(!try_acquire(l)))
    acquire_contended(l);
}

bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms) {
  note_acquire(l);
  while (!try_acquire(l)) {
    if (ms-- == 0) {
      note_release(l);
      return false;
    }
    mprof_sys_sleep_ms(1);
  }
  return true;
}

void mprof_lock_release(struct mprof_lock *l) {
  note_release(l);
  uint64_t owed = 0;
  if (mprof_unlikely(atomic_load_explicit(&l->waiting, memory_order_relaxed) !=
                     0))
    owed = charge(l);
  if (mprof_unlikely(free_last(l)))
    mprof_sys_futex_wake(&l->word);
  if (mprof_unlikely(owed != 0 || mprof_tls.lock_profile.cycles != 0) &&
      mprof_lock_observer)
    mprof_lock_observer(owed, (uintptr_t)__builtin_frame_address(0));
}

void mprof_locks_abandon(void) {
  struct mprof_lock *awaited = mprof_tls.awaited;
  if (awaited) {
    end_waiting(awaited, mprof_tls.awaited_since);
    // A release may have woken this thread instead of another one.
    mprof_sys_futex_wake(&awaited->word);
  }
  while (mprof_tls.held) {
    struct mprof_lock *l = mprof_tls.held;
    if (free_last(l))
      mprof_sys_futex_wake(&l->word);
  }
  note_reset();
}

void mprof_lock_reset(struct mprof_lock *l) {
  note_reset();
  atomic_store_explicit(&l->word, FREE, memory_order_relaxed);
  atomic_store_explicit(&l->waiting, 0, memory_order_relaxed);
}
