// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of POSIX locks, conditions, semaphores, barriers and joins: the
// functions __mprof_f that instrumented code calls in place of f. The entry of
// a lock function first tries to take the lock, or looks whether it is free. If
// it is not, the thread has to wait, and only then the entry reads the clock.
// The entry then calls the hooked function f, whose result is the result of the
// entry.

#include "entry/entry_lock.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/os.h"
#include "trace/trace_events.h"

#include <semaphore.h>

void mprof_wait_cancelled(void *wait) { mprof_wait_end(wait, MPROF_TIMEOUT); }
void mprof_cond_cancelled(void *cond_wait) {
  mprof_cond_end(cond_wait, MPROF_TIMEOUT);
}

// Returns whether *t is a valid time. If the time or the clock is invalid, the
// entry must call the hooked function at once, without first trying to take the
// lock. The reason is that the hooked function checks its arguments before it
// tries to take the lock.
static bool is_time(const struct timespec *t) {
  return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static bool is_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

// --- mutexes, rwlocks, spin locks ---

// Returns ENOTRECOVERABLE. Called after pthread_mutex_trylock has found that m
// is unrecoverable. glibc's pthread_mutex_trylock leaves the caller's thread id
// in the word of such a mutex, as if the caller held it. So this function
// clears the word, as pthread_mutex_lock does. (In glibc 2.36,
// pthread_mutex_trylock.c clears the word only if a variable equals the thread
// id, but the variable is 0 at this point.)
static int not_recoverable(pthread_mutex_t *m) {
#ifdef __GLIBC__
  enum { HOLDER = 0x3fffffff };
  atomic_uint *word = (atomic_uint *)&m->__data.__lock;
  unsigned held = atomic_load(word);
  while ((held & HOLDER) == (unsigned)mprof_sys_gettid())
    if (atomic_compare_exchange_weak(word, &held, 0)) {
      mprof_sys_futex_wake_shared(word);
      break;
    }
#else
  (void)m;
#endif
  return ENOTRECOVERABLE;
}

// Calls pthread_mutex_trylock, and leaves m in the state in which
// pthread_mutex_lock would leave m.
static int try_mutex(pthread_mutex_t *m) {
  int r = pthread_mutex_trylock(m);
  return mprof_unlikely(r == ENOTRECOVERABLE) ? not_recoverable(m) : r;
}

POSIX_LOCK(SLOW_ENTRY int lock_mutex(pthread_mutex_t *l), pthread_mutex_lock,
           (l), true, MPROF_KIND_mutex, try_mutex)
ORDER_ENTRY(pthread_mutex_lock, pthread_mutex_t, MPROF_KIND_mutex, lock_mutex)
MPROF_ENTRY int __mprof_pthread_mutex_lock(pthread_mutex_t *m) {
  const unsigned state = mprof_mutex_state(m);
  if (mprof_likely(state == 0))
    MUSTTAIL return HOOKED(pthread_mutex_lock)(m);
  if (state == mprof_order_word)
    MUSTTAIL return quick_pthread_mutex_lock(m);
  MUSTTAIL return lock_mutex(m);
}

// Returns the word with the id of the writer, for the same reason as
// mprof_mutex_owner.
static unsigned writer_of(const pthread_rwlock_t *l) {
#ifdef __GLIBC__
  return (unsigned)__atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED);
#else
  return (unsigned)__atomic_load_n(&l->__u.__vi[0], __ATOMIC_RELAXED);
#endif
}

// Returns whether a reader can probably take l without a wait.
static bool is_readable(const pthread_rwlock_t *l) {
  return (writer_of(l) | mprof_watch_word(l)) == 0;
}

POSIX_LOCK(SLOW_ENTRY int lock_for_reading(pthread_rwlock_t *l),
           pthread_rwlock_rdlock, (l), true, MPROF_KIND_rwlock,
           pthread_rwlock_tryrdlock)
MPROF_ENTRY int __mprof_pthread_rwlock_rdlock(pthread_rwlock_t *l) {
  if (mprof_likely(is_readable(l)))
    MUSTTAIL return HOOKED(pthread_rwlock_rdlock)(l);
  MUSTTAIL return lock_for_reading(l);
}

POSIX_LOCK(MPROF_ENTRY int __mprof_pthread_rwlock_wrlock(pthread_rwlock_t *l),
           pthread_rwlock_wrlock, (l), true, MPROF_KIND_rwlock,
           pthread_rwlock_trywrlock)

POSIX_LOCK(MPROF_ENTRY int __mprof_pthread_spin_lock(pthread_spinlock_t *l),
           pthread_spin_lock, (l), true, MPROF_KIND_spin, pthread_spin_trylock)

POSIX_LOCK(MPROF_ENTRY int __mprof_pthread_mutex_timedlock(
               pthread_mutex_t *l, const struct timespec *t),
           pthread_mutex_timedlock, (l, t), true, MPROF_KIND_mutex, try_mutex)

POSIX_LOCK(MPROF_ENTRY int __mprof_pthread_mutex_clocklock(
               pthread_mutex_t *l, clockid_t c, const struct timespec *t),
           pthread_mutex_clocklock, (l, c, t), is_clock(c), MPROF_KIND_mutex,
           try_mutex)

#define TIMED_RWLOCK(f, Try)                                                   \
  POSIX_LOCK(MPROF_ENTRY int __mprof_##f(pthread_rwlock_t *l,                  \
                                         const struct timespec *t),            \
             f, (l, t), is_time(t), MPROF_KIND_rwlock, Try)
TIMED_RWLOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock)
TIMED_RWLOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock)

#define CLOCK_RWLOCK(f, Try)                                                   \
  POSIX_LOCK(MPROF_ENTRY int __mprof_##f(pthread_rwlock_t *l, clockid_t c,     \
                                         const struct timespec *t),            \
             f, (l, c, t), is_clock(c) && is_time(t), MPROF_KIND_rwlock, Try)
CLOCK_RWLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock)
CLOCK_RWLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock)

// Entries of the trylock functions that the program itself calls.
ENTRY_TRY(pthread_mutex_trylock, pthread_mutex_t, MPROF_KIND_mutex, EBUSY)
ENTRY_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, MPROF_KIND_rwlock, EBUSY)
ENTRY_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, MPROF_KIND_rwlock, EBUSY)
ENTRY_TRY(pthread_spin_trylock, pthread_spinlock_t, MPROF_KIND_spin, EBUSY)

#ifdef __GLIBC__
static bool is_last_unlock(const pthread_mutex_t *m) {
  return (m->__data.__kind & 3) != PTHREAD_MUTEX_RECURSIVE_NP ||
         m->__data.__count <= 1;
}

// Returns whether an unlock of m wakes a waiter. The word of a plain mutex is
// above 1 while a thread sleeps or is about to sleep. A plain mutex is not
// robust and has no priority protocol. For any other mutex, returns true.
static bool wakes(const pthread_mutex_t *m) {
  const int kind = m->__data.__kind & 127;
  return kind > PTHREAD_MUTEX_ADAPTIVE_NP ||
         __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) > 1;
}
// musl's mutex is an array of ints. Int 0 is the type with flags, 1 is the lock
// word, 2 is the number of waiters, 5 is the count of a recursive mutex.
#else
static bool is_last_unlock(const pthread_mutex_t *m) {
  return (m->__u.__i[0] & 3) != PTHREAD_MUTEX_RECURSIVE || m->__u.__i[5] <= 0;
}

static bool wakes(const pthread_mutex_t *m) {
  return __atomic_load_n(&m->__u.__vi[2], __ATOMIC_RELAXED) != 0 ||
         __atomic_load_n(&m->__u.__vi[1], __ATOMIC_RELAXED) < 0;
}
#endif

// An unlock that is charged counts as the reason why other threads have waited.
// MPROF_WAITER_CAME means that a thread has begun to wait since the last such
// unlock. If that thread does not yet sleep, wakes() does not see the thread.
// Nevertheless this unlock is charged with the thread's waiting time.
bool mprof_mutex_is_charged(const void *mutex, uint32_t word) {
  return (word & MPROF_WAITER_CAME || wakes(mutex)) && is_last_unlock(mutex);
}

// Returns whether this unlock releases the lock, so that a waiting thread can
// take it. While other readers hold the lock, a waiting writer cannot take it.
// So only the last reader's unlock counts as the reason why the writer has
// waited.
static bool is_last_holder(const pthread_rwlock_t *l) {
#ifdef __GLIBC__
  return __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) != 0 ||
         __atomic_load_n(&l->__data.__readers, __ATOMIC_RELAXED) >> 3 <= 1;
// The word of musl's rwlock holds the number of readers. If a writer holds the
// lock, all bits of mask are set. The highest bit of the word is a flag.
#else
  const int mask = 0x7fffffff;
  int word = __atomic_load_n(&l->__u.__vi[0], __ATOMIC_RELAXED) & mask;
  return word == mask || word <= 1;
#endif
}

UNLOCK(pthread_mutex_unlock, pthread_mutex_t, MPROF_KIND_mutex,
       mprof_mutex_is_charged(l, word), 0)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t, MPROF_KIND_rwlock,
       is_last_holder(l), 0)
UNLOCK(pthread_spin_unlock, pthread_spinlock_t, MPROF_KIND_spin, true, 0)

LOCK_ENDS(int, pthread_mutex_destroy, (pthread_mutex_t * l), (l))
LOCK_ENDS(int, pthread_mutex_init,
          (pthread_mutex_t * l, const pthread_mutexattr_t *a), (l, a))
LOCK_ENDS(int, pthread_rwlock_destroy, (pthread_rwlock_t * l), (l))
LOCK_ENDS(int, pthread_rwlock_init,
          (pthread_rwlock_t * l, const pthread_rwlockattr_t *a), (l, a))
LOCK_ENDS(int, pthread_spin_destroy, (pthread_spinlock_t * l), (l))
// In glibc, pthread_spin_init is the same function as pthread_spin_unlock.

// --- conditions ---

COND_WAIT(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m),
          mprof_outcome_of)
COND_WAIT(pthread_cond_timedwait,
          (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t),
          (c, m, t), mprof_outcome_of)
COND_WAIT(pthread_cond_clockwait,
          (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock,
           const struct timespec *t),
          (c, m, clock, t), mprof_outcome_of)

WAKE(pthread_cond_signal, pthread_cond_t, MPROF_WAKES_ONE)
WAKE(pthread_cond_broadcast, pthread_cond_t, MPROF_WAKES_ALL)
WAKE(sem_post, sem_t, MPROF_WAKES_ONE)

// --- semaphores ---

// Tells the trace that this thread has taken a unit of the semaphore without
// waiting. A post may have woken another thread for this unit. That thread must
// wait again, so the trace must not show it as woken by the post.
static void sem_taken(const sem_t *s) {
  if (mprof_unlikely(mprof_trace_is_on()) && mprof_waiters_word(s) != 0)
    mprof_release_taken((uintptr_t)s);
}

// Entry of sem_trywait. The reference to sem_trywait is strong, because the
// entry of sem_wait calls sem_trywait, too. A program that calls only sem_wait
// has no reference to sem_trywait of its own.
MPROF_ENTRY int __mprof_sem_trywait(sem_t *s) {
  int r = sem_trywait(s);
  if (r == 0)
    sem_taken(s);
  else if (errno == EAGAIN)
    mprof_try_failed((uintptr_t)HOOKED(sem_trywait), ENTRY_FRAME, (uintptr_t)s);
  return r;
}

// Tries to take the semaphore, and returns whether that succeeded. Keeps errno.
// acts: whether the hooked function acts on a pending cancellation even if it
// need not wait, as glibc's sem_wait does. Inlined, because most calls of
// sem_wait take the semaphore here.
__attribute__((always_inline)) static inline bool try_semaphore(sem_t *s,
                                                                bool acts) {
  const int before = errno;
  if (acts)
    pthread_testcancel();
  if (mprof_likely(sem_trywait(s) == 0)) {
    sem_taken(s);
    return true;
  }
  errno = before;
  return false;
}

static enum mprof_outcome sem_outcome(int r) {
  return r == 0 ? MPROF_GOT : errno == EINVAL ? MPROF_NO_WAIT : MPROF_TIMEOUT;
}

#define SEM_WAIT(f, Params, Args, MayTry, Acts)                                \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    if (!(MayTry))                                                             \
      return hooked Args;                                                      \
    if (try_semaphore(s, Acts))                                                \
      return 0;                                                                \
    mprof_wait_begin(&w, MPROF_KIND_sem, (uintptr_t)hooked, ENTRY_FRAME,       \
                     (uintptr_t)s);                                            \
    int r = CANCELLATION_POINT(mprof_wait_cancelled, &w, hooked Args);         \
    mprof_wait_end(&w, sem_outcome(r));                                        \
    return r;                                                                  \
  }
SEM_WAIT(sem_wait, (sem_t * s), (s), true, true)
SEM_WAIT(sem_timedwait, (sem_t * s, const struct timespec *t), (s, t),
         is_time(t), true)
SEM_WAIT(sem_clockwait, (sem_t * s, clockid_t c, const struct timespec *t),
         (s, c, t), is_clock(c) && is_time(t), false)

// --- barriers, threads that end, initialization ---

MPROF_ENTRY int __mprof_pthread_barrier_wait(pthread_barrier_t *b) {
  struct mprof_wait w;
  const HOOKED_TYPE(pthread_barrier_wait) hooked =
      LOAD_HOOKED(pthread_barrier_wait);
  mprof_wait_begin(&w, MPROF_KIND_barrier, (uintptr_t)hooked, ENTRY_FRAME,
                   (uintptr_t)b);
  int r = hooked(b);
  mprof_wait_end(&w, mprof_may_have_waited(r) ? MPROF_TIMEOUT : MPROF_NO_WAIT);
  return r;
}

JOIN(pthread_join, (pthread_t t, void **value), (t, value), mprof_outcome_of)
JOIN(pthread_timedjoin_np,
     (pthread_t t, void **value, const struct timespec *until),
     (t, value, until), mprof_outcome_of)
JOIN(pthread_clockjoin_np,
     (pthread_t t, void **value, clockid_t clock, const struct timespec *until),
     (t, value, clock, until), mprof_outcome_of)

MPROF_ENTRY int __mprof_pthread_once(pthread_once_t *control,
                                     void (*routine)(void)) {
  struct mprof_wait w;
  const HOOKED_TYPE(pthread_once) hooked = LOAD_HOOKED(pthread_once);
  if (!mprof_once_is_under_way(control))
    return hooked(control, routine);
  mprof_call_begin(&w, MPROF_KIND_once, (uintptr_t)hooked, ENTRY_FRAME);
  int r = hooked(control, routine);
  mprof_wait_end(&w, MPROF_GOT);
  return r;
}
