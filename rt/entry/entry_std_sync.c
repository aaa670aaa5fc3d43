// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the locks and threads of C11, and of C++ functions that the C++
// libraries do not inline: the functions __mprof_f that instrumented code calls
// in place of f. For C++, they are conditions, futures and joins of libstdc++,
// and all locks of libc++. The C++ functions have mangled names. The entries
// can read fields of the libraries' objects, because the ABI of each library
// fixes their layout.

#include "entry/entry_lock.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

#define DECLARE(Result, f, ...)                                                \
  extern Result f(__VA_ARGS__) __attribute__((weak))

// Returns the mutex of a std::unique_lock<std::mutex>, which begins with the
// address of the mutex.
static void *mutex_of(void *unique_lock) { return *(void **)unique_lock; }

// Returns the 32-bit word at an offset in an object of the C++ library.
static unsigned word_at(const void *object, size_t offset) {
  return __atomic_load_n((const unsigned *)((const char *)object + offset),
                         __ATOMIC_RELAXED);
}

// --- locks of libc++ ---

// Calls Try, the try_lock function of a class. Evaluates to false if Try cannot
// be found. In libc++.a, one object file has the mutexes, and another one has
// the shared mutexes. First: a function of Try's object file.
#define TRY_LOCK(First, Try, Lock)                                             \
  ({                                                                           \
    bool got_ = false;                                                         \
    if (mprof_likely(&First != NULL)) {                                        \
      got_ = Try(Lock);                                                        \
    } else {                                                                   \
      _Bool (*late_)(void *) = LATE(Try);                                      \
      got_ = late_ != NULL && late_(Lock);                                     \
    }                                                                          \
    got_;                                                                      \
  })

#define CXX_LOCK(Lock, Try, Kind)                                              \
  DECLARE(void, Lock, void *);                                                 \
  DECLARE(_Bool, Try, void *);                                                 \
  MPROF_ENTRY void __mprof_##Lock(void *l) {                                   \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(Lock) hooked = LOAD_HOOKED(Lock);                        \
    if (!TRY_LOCK(FIRST_##Kind, Try, l)) {                                     \
      if (mprof_order_on)                                                      \
        mprof_order_awaited((uintptr_t)l, Kind,                                \
                            mprof_takes(MPROF_HOOKED_##Lock),                  \
                            (uintptr_t)hooked, ENTRY_FRAME);                   \
      mprof_wait_begin(&w, Kind, (uintptr_t)hooked, ENTRY_FRAME,               \
                       (uintptr_t)l);                                          \
      hooked(l);                                                               \
      mprof_wait_end(&w, MPROF_GOT);                                           \
    }                                                                          \
    mprof_lock_taken((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##Lock),     \
                     (uintptr_t)hooked, ENTRY_FRAME);                          \
  }                                                                            \
  MPROF_ENTRY _Bool __mprof_##Try(void *l) {                                   \
    const HOOKED_TYPE(Try) hooked = LOAD_HOOKED(Try);                          \
    _Bool got = hooked(l);                                                     \
    if (!got)                                                                  \
      mprof_try_failed((uintptr_t)hooked, ENTRY_FRAME, (uintptr_t)l);          \
    else if (mprof_order_on)                                                   \
      mprof_order_taken((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##Try),   \
                        (uintptr_t)hooked, ENTRY_FRAME);                       \
    return got;                                                                \
  }
#define FIRST_MPROF_KIND_mutex _ZNSt3__15mutex8try_lockEv
#define FIRST_MPROF_KIND_rwlock _ZNSt3__119__shared_mutex_base8try_lockEv
CXX_LOCK(_ZNSt3__15mutex4lockEv, _ZNSt3__15mutex8try_lockEv, MPROF_KIND_mutex)
CXX_LOCK(_ZNSt3__115recursive_mutex4lockEv,
         _ZNSt3__115recursive_mutex8try_lockEv, MPROF_KIND_mutex)
CXX_LOCK(_ZNSt3__111timed_mutex4lockEv, _ZNSt3__111timed_mutex8try_lockEv,
         MPROF_KIND_mutex)
CXX_LOCK(_ZNSt3__121recursive_timed_mutex4lockEv,
         _ZNSt3__121recursive_timed_mutex8try_lockEv, MPROF_KIND_mutex)
CXX_LOCK(_ZNSt3__119__shared_mutex_base4lockEv,
         _ZNSt3__119__shared_mutex_base8try_lockEv, MPROF_KIND_rwlock)
CXX_LOCK(_ZNSt3__119__shared_mutex_base11lock_sharedEv,
         _ZNSt3__119__shared_mutex_base15try_lock_sharedEv, MPROF_KIND_rwlock)
CXX_LOCK(_ZNSt3__118shared_timed_mutex4lockEv,
         _ZNSt3__118shared_timed_mutex8try_lockEv, MPROF_KIND_rwlock)
CXX_LOCK(_ZNSt3__118shared_timed_mutex11lock_sharedEv,
         _ZNSt3__118shared_timed_mutex15try_lock_sharedEv, MPROF_KIND_rwlock)

// Returns whether an unlock of the recursive_timed_mutex l releases l. The
// layout of l is: a mutex (40 bytes), a condition (48 bytes), the number of
// times that the owner has locked l.
static bool is_last_timed_unlock(const void *l) {
  return word_at(l, 40 + 48) <= 1;
}

// Returns whether at most one reader holds the shared_mutex l. The layout of l
// is: a mutex (40 bytes), two conditions (48 bytes each), a word with the
// number of readers. Bit 31 of this word is a flag.
static bool is_last_reader(const void *l) {
  return (word_at(l, 40 + 48 + 48) & ~(1u << 31)) <= 1;
}

#define CXX_UNLOCK(Unlock, Kind, IsCharged)                                    \
  DECLARE(void, Unlock, void *);                                               \
  SLOW_ENTRY void release_##Unlock(void *l) {                                  \
    struct mprof_release release;                                              \
    const HOOKED_TYPE(Unlock) hooked = LOAD_HOOKED(Unlock);                    \
    const uint32_t word = mprof_waiters_word(l);                               \
    if (word == 0 || !(IsCharged)) {                                           \
      mprof_unlock_drops(l, Kind);                                             \
      hooked(l);                                                               \
      return;                                                                  \
    }                                                                          \
    mprof_release_begin(&release, (uintptr_t)l, MPROF_WAKES_NEXT_OWNER,        \
                        (uintptr_t)hooked, ENTRY_FRAME);                       \
    mprof_unlock_drops(l, Kind);                                               \
    hooked(l);                                                                 \
    mprof_release_end(&release, true, Kind, (uintptr_t)hooked, ENTRY_FRAME);   \
  }                                                                            \
  MPROF_ENTRY void __mprof_##Unlock(void *l) {                                 \
    if (mprof_likely(!mprof_is_watched(l)))                                    \
      MUSTTAIL return HOOKED(Unlock)(l);                                       \
    MUSTTAIL return release_##Unlock(l);                                       \
  }
CXX_UNLOCK(_ZNSt3__15mutex6unlockEv, MPROF_KIND_mutex,
           mprof_mutex_is_charged(l, word))
CXX_UNLOCK(_ZNSt3__115recursive_mutex6unlockEv, MPROF_KIND_mutex,
           mprof_mutex_is_charged(l, word))
CXX_UNLOCK(_ZNSt3__111timed_mutex6unlockEv, MPROF_KIND_mutex, true)
CXX_UNLOCK(_ZNSt3__121recursive_timed_mutex6unlockEv, MPROF_KIND_mutex,
           is_last_timed_unlock(l))
CXX_UNLOCK(_ZNSt3__119__shared_mutex_base6unlockEv, MPROF_KIND_rwlock, true)
CXX_UNLOCK(_ZNSt3__119__shared_mutex_base13unlock_sharedEv, MPROF_KIND_rwlock,
           is_last_reader(l))
CXX_UNLOCK(_ZNSt3__118shared_timed_mutex6unlockEv, MPROF_KIND_rwlock, true)
CXX_UNLOCK(_ZNSt3__118shared_timed_mutex13unlock_sharedEv, MPROF_KIND_rwlock,
           is_last_reader(l))

// --- conditions of both libraries ---

#define CXX_COND_WAIT(f, Outcome, Params, Args, Types)                         \
  DECLARE(void, f, Types);                                                     \
  MPROF_ENTRY void __mprof_##f Params {                                        \
    struct mprof_cond_wait w;                                                  \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_cleanup buffer;                                                      \
    mprof_cond_begin(&w, c, mutex_of(lock), (uintptr_t)hooked, ENTRY_FRAME);   \
    _pthread_cleanup_push(&buffer, mprof_cond_cancelled, &w);                  \
    hooked Args;                                                               \
    _pthread_cleanup_pop(&buffer, 0);                                          \
    mprof_cond_end(&w, Outcome);                                               \
  }
#define TWO void *, void *
#define THREE void *, void *, long
CXX_COND_WAIT(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,
              MPROF_GOT, (void *c, void *lock), (c, lock), TWO)
CXX_COND_WAIT(_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE,
              MPROF_GOT, (void *c, void *lock), (c, lock), TWO)
// libc++'s function __do_timed_wait does not tell whether the time has run out.
// Therefore the entry records every wait in this function as a timeout.
CXX_COND_WAIT(
    _ZNSt3__118condition_variable15__do_timed_waitERNS_11unique_lockINS_5mutexEEENS_6chrono10time_pointINS5_12system_clockENS5_8durationIxNS_5ratioILl1ELl1000000000EEEEEEE,
    MPROF_TIMEOUT, (void *c, void *lock, long until), (c, lock, until), THREE)

#define CXX_NOTIFY(f, Wakes)                                                   \
  DECLARE(void, f, void *);                                                    \
  SLOW_ENTRY void wake_##f(void *c) {                                          \
    struct mprof_release release;                                              \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_release_begin(&release, (uintptr_t)c, Wakes, (uintptr_t)hooked,      \
                        ENTRY_FRAME);                                          \
    hooked(c);                                                                 \
  }                                                                            \
  MPROF_ENTRY void __mprof_##f(void *c) {                                      \
    if (mprof_likely(!mprof_is_watched(c)))                                    \
      MUSTTAIL return HOOKED(f)(c);                                            \
    MUSTTAIL return wake_##f(c);                                               \
  }
CXX_NOTIFY(_ZNSt18condition_variable10notify_oneEv, MPROF_WAKES_ONE)
CXX_NOTIFY(_ZNSt18condition_variable10notify_allEv, MPROF_WAKES_ALL)
CXX_NOTIFY(_ZNSt3__118condition_variable10notify_oneEv, MPROF_WAKES_ONE)
CXX_NOTIFY(_ZNSt3__118condition_variable10notify_allEv, MPROF_WAKES_ALL)

// --- threads that end ---

// Defines the entry of f, the join function of std::thread. A std::thread
// consists only of its pthread_t. If the thread cannot be joined, the call
// throws, and the entry does not call mprof_wait_end. This leaves no data
// behind, because a join is never recorded in the table of waiters.
#define CXX_JOIN(f)                                                            \
  DECLARE(void, f, void *);                                                    \
  MPROF_ENTRY void __mprof_##f(void *thread) {                                 \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    pthread_t t = *(pthread_t *)thread;                                        \
    if (t == 0 || !mprof_is_running(t)) {                                      \
      hooked(thread);                                                          \
      return;                                                                  \
    }                                                                          \
    mprof_join_begin(&w, (uintptr_t)t, (uintptr_t)hooked, ENTRY_FRAME);        \
    hooked(thread);                                                            \
    mprof_wait_end(&w, MPROF_GOT);                                             \
  }
CXX_JOIN(_ZNSt6thread4joinEv)
CXX_JOIN(_ZNSt3__16thread4joinEv)

// --- futures and call_once ---

// Defines the entry of a futex function f of libstdc++. f waits while *word
// equals value, and returns false if the time has run out.
#define CXX_FUTEX_WAIT(f)                                                      \
  DECLARE(_Bool, f, void *, unsigned *, unsigned, _Bool, long, long);          \
  MPROF_ENTRY _Bool __mprof_##f(void *self, unsigned *word, unsigned value,    \
                                _Bool has_timeout, long s, long ns) {          \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_wait_begin(&w, MPROF_KIND_future, (uintptr_t)hooked, ENTRY_FRAME,    \
                     (uintptr_t)word);                                         \
    _Bool r = hooked(self, word, value, has_timeout, s, ns);                   \
    mprof_wait_end(&w, r ? MPROF_GOT : MPROF_TIMEOUT);                         \
    return r;                                                                  \
  }
CXX_FUTEX_WAIT(
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
CXX_FUTEX_WAIT(
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)

#define NOTIFY_FUTEX _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj
DECLARE(void, NOTIFY_FUTEX, void *, unsigned *);
SLOW_ENTRY void notify_futex(void *self, unsigned *word) {
  struct mprof_release release;
  const HOOKED_TYPE(NOTIFY_FUTEX) hooked = LOAD_HOOKED(NOTIFY_FUTEX);
  mprof_release_begin(&release, (uintptr_t)word, MPROF_WAKES_ALL,
                      (uintptr_t)hooked, ENTRY_FRAME);
  hooked(self, word);
}
MPROF_ENTRY void
__mprof__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(
    void *self, unsigned *word) {
  if (mprof_likely(!mprof_is_watched(word)))
    MUSTTAIL return HOOKED(NOTIFY_FUTEX)(self, word);
  MUSTTAIL return notify_futex(self, word);
}

// Returns whether a future is ready. The layout of libc++'s shared state is:
// virtual table (8 bytes), count (8), exception (8), mutex (40), condition
// (48), flags. Flag 4 means that the future is ready.
static bool is_ready(const void *state) {
  return word_at(state, 8 + 8 + 8 + 40 + 48) & 4;
}

DECLARE(void, _ZNSt3__117__assoc_sub_state4waitEv, void *);
MPROF_ENTRY void __mprof__ZNSt3__117__assoc_sub_state4waitEv(void *state) {
  struct mprof_wait w;
  const HOOKED_TYPE(_ZNSt3__117__assoc_sub_state4waitEv) hooked =
      LOAD_HOOKED(_ZNSt3__117__assoc_sub_state4waitEv);
  if (is_ready(state)) {
    hooked(state);
    return;
  }
  mprof_call_begin(&w, MPROF_KIND_future, (uintptr_t)hooked, ENTRY_FRAME);
  hooked(state);
  mprof_wait_end(&w, MPROF_GOT);
}

#define SUB_WAIT                                                               \
  _ZNSt3__117__assoc_sub_state10__sub_waitERNS_11unique_lockINS_5mutexEEE
DECLARE(void, SUB_WAIT, void *, void *);
MPROF_ENTRY void
__mprof__ZNSt3__117__assoc_sub_state10__sub_waitERNS_11unique_lockINS_5mutexEEE(
    void *state, void *lock) {
  struct mprof_wait w;
  const HOOKED_TYPE(SUB_WAIT) hooked = LOAD_HOOKED(SUB_WAIT);
  if (is_ready(state)) {
    hooked(state, lock);
    return;
  }
  mprof_call_begin(&w, MPROF_KIND_future, (uintptr_t)hooked, ENTRY_FRAME);
  hooked(state, lock);
  mprof_wait_end(&w, MPROF_GOT);
}

// Entry of libc++'s call_once. While another thread runs the function, *flag is
// 1.
#define CALL_ONCE _ZNSt3__111__call_onceERVmPvPFvS2_E
DECLARE(void, CALL_ONCE, unsigned long *, void *, void (*)(void *));
MPROF_ENTRY void
__mprof__ZNSt3__111__call_onceERVmPvPFvS2_E(unsigned long *flag, void *arg,
                                            void (*fn)(void *)) {
  struct mprof_wait w;
  const HOOKED_TYPE(CALL_ONCE) hooked = LOAD_HOOKED(CALL_ONCE);
  if (__atomic_load_n(flag, __ATOMIC_RELAXED) != 1) {
    hooked(flag, arg, fn);
    return;
  }
  mprof_call_begin(&w, MPROF_KIND_once, (uintptr_t)hooked, ENTRY_FRAME);
  hooked(flag, arg, fn);
  mprof_wait_end(&w, MPROF_GOT);
}

// Entry of the function that compiled code calls at the first uses of a
// function's static variable. In both libraries, byte 0 of the guard says that
// the variable is initialized, and byte 1 is not 0 while a thread initializes
// it.
DECLARE(int, __cxa_guard_acquire, const char *);
MPROF_ENTRY int __mprof___cxa_guard_acquire(const char *guard) {
  struct mprof_wait w;
  const HOOKED_TYPE(__cxa_guard_acquire) hooked =
      LOAD_HOOKED(__cxa_guard_acquire);
  if (__atomic_load_n(guard, __ATOMIC_RELAXED) != 0 ||
      __atomic_load_n(guard + 1, __ATOMIC_RELAXED) == 0)
    return hooked(guard);
  mprof_call_begin(&w, MPROF_KIND_once, (uintptr_t)hooked, ENTRY_FRAME);
  const int result = hooked(guard);
  mprof_wait_end(&w, MPROF_GOT);
  return result;
}

// --- std::atomic::wait of libc++, and classes that use it ---

// Defines the entry of f, a function of libc++ that waits until a std::atomic
// changes. MayWait: an expression that is false if this call of f cannot wait.
// If the atomic has 32 bits, f waits while *word equals `value`, so MayWait
// compares the two. For any other atomic, f waits until a word inside the
// library changes. The entry cannot read this word, so MayWait is always true.
#define CXX_ATOMIC_WAIT(f, MayWait)                                            \
  DECLARE(void, f, const int *, int);                                          \
  MPROF_ENTRY void __mprof_##f(const int *word, int value) {                   \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    if (!(MayWait)) {                                                          \
      hooked(word, value);                                                     \
      return;                                                                  \
    }                                                                          \
    mprof_call_begin(&w, MPROF_KIND_futex, (uintptr_t)hooked, ENTRY_FRAME);    \
    w.object = (uintptr_t)word;                                                \
    hooked(word, value);                                                       \
    mprof_wait_end(&w, MPROF_GOT);                                             \
  }
CXX_ATOMIC_WAIT(_ZNSt3__120__libcpp_atomic_waitEPVKvi, true)
CXX_ATOMIC_WAIT(
    _ZNSt3__120__libcpp_atomic_waitEPVKNS_17__cxx_atomic_implIiNS_22__cxx_atomic_base_implIiEEEEi,
    __atomic_load_n(word, __ATOMIC_RELAXED) == value)

#define SLEEP_FOR                                                              \
  _ZNSt3__111this_thread9sleep_forERKNS_6chrono8durationIxNS_5ratioILl1ELl1000000000EEEEE
DECLARE(void, SLEEP_FOR, const long *);
MPROF_ENTRY void
__mprof__ZNSt3__111this_thread9sleep_forERKNS_6chrono8durationIxNS_5ratioILl1ELl1000000000EEEEE(
    const long *ns) {
  struct mprof_wait w;
  const HOOKED_TYPE(SLEEP_FOR) hooked = LOAD_HOOKED(SLEEP_FOR);
  mprof_call_begin(&w, MPROF_KIND_sleep, (uintptr_t)hooked, ENTRY_FRAME);
  hooked(ns);
  mprof_wait_end(&w, MPROF_TIMEOUT);
}

// --- C11 ---

// This file does not include <threads.h>, because the compiler would find the
// runtime's own threads.h. Therefore this file repeats the declarations of
// C11's header. The constants have the same values in glibc and musl.

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };

typedef struct mtx mtx_t;
typedef struct cnd cnd_t;
typedef struct once once_flag;
int mtx_init(mtx_t *m, int type);
void mtx_destroy(mtx_t *m);
int mtx_lock(mtx_t *m);
int mtx_trylock(mtx_t *m);
int mtx_timedlock(mtx_t *m, const struct timespec *t);
int mtx_unlock(mtx_t *m);
int cnd_wait(cnd_t *c, mtx_t *m);
int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *t);
int cnd_signal(cnd_t *c);
int cnd_broadcast(cnd_t *c);
int thrd_join(pthread_t t, int *value);
void call_once(once_flag *flag, void (*routine)(void));

static enum mprof_outcome thrd_outcome(int r) {
  return r == thrd_success    ? MPROF_GOT
         : r == thrd_timedout ? MPROF_TIMEOUT
                              : MPROF_NO_WAIT;
}

LOCK(SLOW_ENTRY int lock_mtx(mtx_t *l), mtx_lock, (l), true, MPROF_KIND_mutex,
     mtx_trylock, thrd_busy, thrd_outcome)
// An mtx_t begins with a pthread_mutex_t.
ORDER_ENTRY(mtx_lock, mtx_t, MPROF_KIND_mutex, lock_mtx)
MPROF_ENTRY int __mprof_mtx_lock(mtx_t *m) {
  const unsigned state = mprof_mutex_state((const void *)m);
  if (mprof_likely(state == 0))
    MUSTTAIL return HOOKED(mtx_lock)(m);
  if (state == mprof_order_word)
    MUSTTAIL return quick_mtx_lock(m);
  MUSTTAIL return lock_mtx(m);
}

LOCK(MPROF_ENTRY int __mprof_mtx_timedlock(mtx_t *l, const struct timespec *t),
     mtx_timedlock, (l, t), true, MPROF_KIND_mutex, mtx_trylock, thrd_busy,
     thrd_outcome)

ENTRY_TRY(mtx_trylock, mtx_t, MPROF_KIND_mutex, thrd_busy)
UNLOCK(mtx_unlock, mtx_t, MPROF_KIND_mutex, mprof_mutex_is_charged(l, word),
       thrd_success)

LOCK_ENDS(void, mtx_destroy, (mtx_t * l), (l))
LOCK_ENDS(int, mtx_init, (mtx_t * l, int type), (l, type))

COND_WAIT(cnd_wait, (cnd_t * c, mtx_t *m), (c, m), thrd_outcome)
COND_WAIT(cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *t),
          (c, m, t), thrd_outcome)
WAKE(cnd_signal, cnd_t, MPROF_WAKES_ONE)
WAKE(cnd_broadcast, cnd_t, MPROF_WAKES_ALL)

JOIN(thrd_join, (pthread_t t, int *value), (t, value), thrd_outcome)

MPROF_ENTRY void __mprof_call_once(once_flag *flag, void (*routine)(void)) {
  struct mprof_wait w;
  const HOOKED_TYPE(call_once) hooked = LOAD_HOOKED(call_once);
  if (!mprof_once_is_under_way(flag)) {
    hooked(flag, routine);
    return;
  }
  mprof_call_begin(&w, MPROF_KIND_once, (uintptr_t)hooked, ENTRY_FRAME);
  hooked(flag, routine);
  mprof_wait_end(&w, MPROF_GOT);
}
