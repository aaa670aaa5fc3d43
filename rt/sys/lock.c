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
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"

// Values of the lock word, see lock.h. WAITED_FOR is a bit: mprof_tls is
// aligned.
#define FREE ((uintptr_t)0)
#define WAITED_FOR ((uintptr_t)1)

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
bool mprof_lock_is_held(enum mprof_rank rank) {
  for (unsigned i = 0; i < mprof_tls.held; i++)
    if (mprof_tls.locks[i]->rank == rank)
      return true;
  return false;
}
#endif

void (*mprof_lock_observer)(uint64_t cycles, uintptr_t frame);

// Returns the word of a lock that the calling thread holds. The address is
// inverted, because the search for stuck threads must not take it for a pointer
// by which a thread that holds no lock can reach the memory of this thread.
static uintptr_t own_word(void) { return ~(uintptr_t)&mprof_tls & ~WAITED_FOR; }

// The kernel compares the half of the word that has the bit WAITED_FOR. Holders
// whose halves are equal do no harm: each of them wakes a waiter.
static atomic_uint *futex_of(struct mprof_lock *l) {
  return (atomic_uint *)&l->word;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "futex_of returns the lower half of the word");

// Stores in the thread's data which lock the thread is about to take. If the
// thread leaves the runtime by longjmp afterwards, mprof_locks_abandon finds
// the lock there, and finds in the lock's word whether the thread has taken it.
static void begin_taking(struct mprof_lock *l) {
  const unsigned n = mprof_tls.held;
  MPROF_ASSERT(mprof_tls.guard != 0);
  // The thread must not hold a lock of the same or a higher rank.
  MPROF_ASSERT(n == 0 || mprof_tls.locks[n - 1]->rank < l->rank);
  mprof_tls.locks[n] = l;
  atomic_signal_fence(memory_order_seq_cst);
}

static void end_taking(void) {
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.held++;
}

// Called after begin_taking.
static bool try_acquire(struct mprof_lock *l) {
  uintptr_t free = FREE;
  if (!atomic_compare_exchange_strong_explicit(&l->word, &free, own_word(),
                                               memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  end_taking();
  return true;
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
// lock, so no release changes l->charged at the same time. If a thread has left
// this function or begin_waiting by longjmp, it may be removed twice or without
// having been added. This error ends with the last waiter, because the sum of
// no waiters is 0.
static void end_waiting(struct mprof_lock *l, uint64_t start) {
  uint64_t from = l->charged > start ? l->charged : start;
  uint64_t w = atomic_load_explicit(&l->waiting, memory_order_relaxed), next;
  do
    next = w < 2 * ONE_WAITER
               ? 0
               : ((w & ~SUM_MASK) - ONE_WAITER) | ((w - from) & SUM_MASK);
  while (!atomic_compare_exchange_weak(&l->waiting, &w, next));
  mprof_tls.awaited = NULL;
}

// Sleeps until the lock is free, and takes it. Marks it as waited for, because
// other threads may sleep, too.
static void sleep_for(struct mprof_lock *l) {
  uintptr_t w = atomic_load_explicit(&l->word, memory_order_relaxed);
  for (;;) {
    const uintptr_t holder = w == FREE ? own_word() : w;
    if (!atomic_compare_exchange_weak_explicit(
            &l->word, &w, holder | WAITED_FOR, memory_order_acquire,
            memory_order_relaxed))
      continue;
    if (w == FREE)
      return;
    mprof_sys_futex_wait(futex_of(l), (unsigned)(w | WAITED_FOR));
    w = atomic_load_explicit(&l->word, memory_order_relaxed);
  }
}

static MPROF_NOINLINE void acquire_contended(struct mprof_lock *l) {
  uint64_t start = mprof_clock_now();
  begin_waiting(l, start);
  // The kernel wakes waiters in the order in which they came. A waiter sleeps
  // until a release wakes it: if waiters looked again after a time, thousands
  // of them would take all processor time from the holder of the lock.
  if (!spin(l) && !yield(l)) {
    sleep_for(l);
    end_taking();
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
  begin_taking(l);
  if (mprof_unlikely(!try_acquire(l)))
    acquire_contended(l);
}

bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms) {
  begin_taking(l);
  while (!try_acquire(l)) {
    if (ms-- == 0)
      return false;
    mprof_sys_sleep_ms(1);
  }
  return true;
}

void mprof_lock_release(struct mprof_lock *l) {
  MPROF_ASSERT(mprof_tls.held != 0 && mprof_tls.locks[mprof_tls.held - 1] == l);
  uint64_t owed = 0;
  if (mprof_unlikely(atomic_load_explicit(&l->waiting, memory_order_relaxed) !=
                     0))
    owed = charge(l);
  // The lock stays in mprof_tls.locks, where mprof_locks_abandon finds it until
  // this thread takes the next lock.
  mprof_tls.held--;
  atomic_signal_fence(memory_order_seq_cst);
  if (mprof_unlikely(
          atomic_exchange_explicit(&l->word, FREE, memory_order_release) &
          WAITED_FOR))
    mprof_sys_futex_wake(futex_of(l));
  if (mprof_unlikely(owed != 0 || mprof_tls.lock_profile.cycles != 0) &&
      mprof_lock_observer)
    mprof_lock_observer(owed, (uintptr_t)__builtin_frame_address(0));
}

void mprof_locks_abandon(void) {
  if (mprof_tls.awaited)
    end_waiting(mprof_tls.awaited, mprof_tls.awaited_since);
  // The thread may have left while it took or released the lock that follows
  // those that it holds.
  for (unsigned i = mprof_tls.held + 1; i-- > 0;) {
    struct mprof_lock *l = mprof_tls.locks[i];
    if (!l)
      continue;
    mprof_tls.held = i;
    if ((atomic_load_explicit(&l->word, memory_order_relaxed) & ~WAITED_FOR) ==
        own_word())
      atomic_store_explicit(&l->word, FREE, memory_order_release);
    // Wakes a waiter even if the lock was free: the thread may have left
    // between the release and the wake, or may have been woken instead of
    // another one.
    mprof_sys_futex_wake(futex_of(l));
  }
}

void mprof_lock_reset(struct mprof_lock *l) {
  atomic_store_explicit(&l->word, FREE, memory_order_relaxed);
  atomic_store_explicit(&l->waiting, 0, memory_order_relaxed);
}
