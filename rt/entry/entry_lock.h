// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers and macros for the entries of locks and blocking calls. The entry of
// a hooked function f is the runtime's function __mprof_f, which instrumented
// code calls in place of f. Only the files of these entries include this
// header.
//
//   lock:    try; if the try fails: mprof_wait_begin, hooked function,
//            mprof_wait_end
//   unlock:  if a thread waits: mprof_release_begin, hooked function,
//            mprof_release_end; otherwise only the hooked function
//
// Instrumented code calls these entries only while they have something to
// record (MPROF_WAIT and MPROF_RELEASE in hooks.def). Even then, most locks are
// free and most unlocks wake nobody. So the most frequent entries first test
// this, and jump to the hooked function (MUSTTAIL).
//
// The entries call the hooked functions by their addresses (hooked.h), so that
// a program links and binds only the functions that it calls itself. An entry
// loads the address only once, because another thread may change it.

#ifndef MPROF_RT_ENTRY_ENTRY_LOCK_H
#define MPROF_RT_ENTRY_ENTRY_LOCK_H

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_order.h"
#include "lock_wait/waiters.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

// Cleanup routine for a call that did not return, for example because the
// thread was cancelled. Ends the wait. `wait` points to a struct mprof_wait.
void mprof_wait_cancelled(void *wait);

// Returns whether an unlock of a mutex is charged with the waiting time of
// other threads, that is, whether the mutex profile shows this time at the
// unlock. The unlock is charged if it releases the mutex and wakes a waiter. If
// the owner has locked the mutex recursively, only the last unlock releases the
// mutex. The unlock wakes no waiter if an earlier unlock has woken a thread
// that has not yet taken the mutex, and no other thread has begun to wait
// since. (Go: an unlock that wakes calls semrelease.)
// mutex: a pthread_mutex_t, or an mtx_t or C++ mutex, which begin with a
//   pthread_mutex_t.
// word: mprof_waiters_word(mutex), which is not 0.
bool mprof_mutex_is_charged(const void *mutex, uint32_t word);

// Cleanup routine for a call that did not return, for example because the
// thread was cancelled. Ends the wait for a condition. cond_wait points to a
// struct mprof_cond_wait.
void mprof_cond_cancelled(void *cond_wait);

// Frame address of the entry. The recorded stack consists of the frames above
// this address. Use this macro in the entry itself.
#define ENTRY_FRAME ((uintptr_t)__builtin_frame_address(0))
// The return address of the entry.
#define ENTRY_CALLER                                                           \
  ((mprof_pc)mprof_return_address((uintptr_t)__builtin_return_address(0)))

// Returns whether call sites call the runtime for waits of a kind.
static inline bool mprof_sync_wants(enum mprof_kind kind) {
  return __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED) >> kind & 1;
}

// Returns the word of __mprof_waiters for the slot of an object, without the
// bits MPROF_WAITER_FLAGS, which are set while acquisitions are recorded.
// Several objects share a slot. The result is 0 if no thread waits for any
// object of the slot.
static inline uint32_t mprof_waiters_word(const void *object) {
  size_t slot = mprof_waiter_slot((uintptr_t)object);
  return __atomic_load_n(&__mprof_waiters[slot], __ATOMIC_RELAXED) &
         ~MPROF_WAITER_FLAGS;
}

// Returns the word of __mprof_waiters for the slot of an object. The result is
// 0 if no thread waits for the object and acquisitions are not recorded.
static inline uint32_t mprof_watch_word(const void *object) {
  // The slot, as mprof_waiter_slot computes it. The empty asm keeps the
  // compiler from replacing the conversion by an `and`, which is one
  // instruction more.
  uint32_t low = (uint16_t)(uintptr_t)object;
  _Static_assert(MPROF_WAITER_SLOTS << MPROF_WAITER_SHIFT == UINT16_MAX + 1,
                 "slot of 16 bits");
  __asm__("" : "+r"(low));
  const uint32_t *word = &__mprof_waiters[low >> MPROF_WAITER_SHIFT];
#if __has_feature(thread_sanitizer)
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
  // The compiler does not combine an atomic load with the test of the word.
  return *word;
#endif
}

// Returns whether the word of the object is not 0.
static inline bool mprof_is_watched(const void *object) {
  return mprof_watch_word(object) != 0;
}

// Returns the word of a mutex that is not 0 while the mutex is held. It is not
// the word that an unlock writes last, because the processor would have to wait
// for that store. glibc: the owner's id. musl: the lock word.
static inline unsigned mprof_mutex_owner(const pthread_mutex_t *m) {
  // Not volatile and not atomic, so that the compiler combines the load with
  // the test. ThreadSanitizer must know that the race is on purpose.
#ifdef __GLIBC__
  const int *word = &m->__data.__owner;
#else
  const int *word = (const int *)&m->__u.__vi[1];
#endif
#if __has_feature(thread_sanitizer)
  return (unsigned)__atomic_load_n(word, __ATOMIC_RELAXED);
#else
  return (unsigned)*word;
#endif
}

// Returns 0 if a mutex has neither an owner nor waiters, so that taking it
// needs no record, and mprof_order_word if only the locks that threads hold are
// recorded. If another thread takes the mutex in the few nanoseconds before the
// hooked function runs, the wait is not recorded. The function does not try the
// mutex, because a try takes longer than a call of the hooked function for a
// free mutex.
static inline unsigned mprof_mutex_state(const pthread_mutex_t *m) {
  // One branch for both words, because a second branch would slow down short
  // loops.
  return mprof_mutex_owner(m) | mprof_watch_word(m);
}

// A quick entry of f tests whether it has anything to record. If not, it jumps
// to f. Otherwise it jumps to a slow entry with the same parameters:
//     if (mprof_likely(...))
//       MUSTTAIL return HOOKED(f)(...);
//     MUSTTAIL return slow(...);
// Since both are jumps, the quick entry needs no frame, and its caller is also
// the caller of the slow entry.
#define MUSTTAIL __attribute__((musttail))
// Attributes of a slow entry. Its frame belongs to the frames of the entry,
// which the unwinder leaves out of stacks.
#define SLOW_ENTRY static MPROF_NOINLINE MPROF_TEXT_SECTION

// Returns the outcome of a wait. error: the hooked function's result, which is
// 0 or an errno value.
static inline enum mprof_outcome mprof_outcome_of(int error) {
  return error == 0 || error == EOWNERDEAD ? MPROF_GOT
         : error == ETIMEDOUT              ? MPROF_TIMEOUT
                                           : MPROF_NO_WAIT;
}

// Registers a cleanup routine with libc, in buffer. libc calls the routine if
// the hooked function does not return to the entry, because the thread is
// cancelled or a signal handler calls longjmp. Any other way to notice these
// cases would need an unwinder or a setjmp. _pthread_cleanup_pop removes the
// routine.
void _pthread_cleanup_push(mprof_cleanup *buffer, void (*routine)(void *),
                           void *arg);
void _pthread_cleanup_pop(mprof_cleanup *buffer, int execute);

// Records that the thread has taken a lock. how: MPROF_TAKES_*.
static inline void mprof_lock_taken(uintptr_t lock, uint8_t kind, unsigned how,
                                    uintptr_t op, uintptr_t frame) {
  if (mprof_likely(!mprof_is_watched((const void *)lock)))
    return;
  if (mprof_order_on)
    mprof_order_taken(lock, kind, how, op, frame);
  mprof_hold_taken(lock, kind, how, op, frame);
}

// Evaluates call, which is a cancellation point. If call does not return, libc
// calls routine(w), which ends the wait w.
#define CANCELLATION_POINT(routine, w, call)                                   \
  ({                                                                           \
    mprof_cleanup buffer_;                                                     \
    _pthread_cleanup_push(&buffer_, (routine), (w));                           \
    __typeof__(call) result_ = (call);                                         \
    _pthread_cleanup_pop(&buffer_, 0);                                         \
    result_;                                                                   \
  })

// Evaluates call, which is a cancellation point. The wait w is noted if the
// address of w is in the thread's record, where other threads can read it. If w
// is noted and call does not return, mprof_wait_cancelled ends w. If w is not
// noted, nothing has to be undone, so no cleanup routine is registered.
#define NOTED_CANCELLATION_POINT(w, call)                                      \
  ((w)->is_noted ? CANCELLATION_POINT(mprof_wait_cancelled, (w), call) : (call))

// Defines quick_f for a lock that is free and whose word is mprof_order_word.
// If only the option lock_order has to see the lock, quick_f adds it to the
// thread's list and jumps to f. Otherwise it jumps to Slow.
#define ORDER_ENTRY(f, Type, Kind, Slow)                                       \
  SLOW_ENTRY int further_##f(Type *l) {                                        \
    if (mprof_order_push((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##f),    \
                         ENTRY_CALLER))                                        \
      MUSTTAIL return HOOKED(f)(l);                                            \
    MUSTTAIL return Slow(l);                                                   \
  }                                                                            \
  SLOW_ENTRY int quick_##f(Type *l) {                                          \
    if (mprof_likely(mprof_order_push_first(                                   \
            (uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##f), ENTRY_CALLER))) \
      MUSTTAIL return HOOKED(f)(l);                                            \
    MUSTTAIL return further_##f(l);                                            \
  }

// --- bodies of entries ---

// Defines the entry of f(l, ...), which takes the lock l. Head: attributes,
// name and parameters of the entry. The entry first calls Try, and waits in f
// only if Try returns Busy. IsValid: false: f fails because of its other
// arguments.
#define LOCK(Head, f, Args, IsValid, Kind, Try, Busy, Outcome)                 \
  Head {                                                                       \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    if (mprof_unlikely(!mprof_sync_wants(Kind)) || !(IsValid))                 \
      return hooked Args;                                                      \
    int r = Try(l);                                                            \
    if (mprof_unlikely(r == (Busy))) {                                         \
      if (mprof_order_on)                                                      \
        mprof_order_awaited((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##f), \
                            (uintptr_t)hooked, ENTRY_FRAME);                   \
      mprof_wait_begin(&w, Kind, (uintptr_t)hooked, ENTRY_FRAME,               \
                       (uintptr_t)l);                                          \
      r = NOTED_CANCELLATION_POINT(&w, hooked Args);                           \
      mprof_wait_end(&w, Outcome(r));                                          \
    }                                                                          \
    if (Outcome(r) == MPROF_GOT)                                               \
      mprof_lock_taken((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##f),      \
                       (uintptr_t)hooked, ENTRY_FRAME);                        \
    return r;                                                                  \
  }

// The same for a function of POSIX.
#define POSIX_LOCK(Head, f, Args, IsValid, Kind, Try)                          \
  LOCK(Head, f, Args, IsValid, Kind, Try, EBUSY, mprof_outcome_of)

// Defines the entry of a trylock function f that the program itself calls.
// Busy: the result of f if another thread holds the lock.
#define ENTRY_TRY(f, Type, Kind, Busy)                                         \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    int r = hooked(l);                                                         \
    if (r == 0)                                                                \
      mprof_lock_taken((uintptr_t)l, Kind, mprof_takes(MPROF_HOOKED_##f),      \
                       (uintptr_t)hooked, ENTRY_FRAME);                        \
    else if (r == (Busy))                                                      \
      mprof_try_failed((uintptr_t)hooked, ENTRY_FRAME, (uintptr_t)l);          \
    return r;                                                                  \
  }

// Removes the calling thread's records of a lock that the thread is about to
// unlock. Call after mprof_release_begin, which reads the note of the lock. A
// hold record tells where the thread took the lock (holds.h).
// Some locks do not store all their holders, so the runtime knows the holders
// only from these records. Therefore no record may exist after the unlock.
static inline void mprof_unlock_drops(const void *lock, enum mprof_kind kind) {
  mprof_note_dropped((uintptr_t)lock);
  if (mprof_likely(!mprof_tracks_locks))
    return;
  if (mprof_holds_on && (kind != MPROF_KIND_mutex || !MPROF_LOCKS_NAME_OWNERS))
    mprof_hold_dropped((uintptr_t)lock);
  if (mprof_order_on)
    mprof_order_dropped((uintptr_t)lock);
}

// Defines the entry of an unlock function f. IsCharged: whether the unlock is
// charged with the time that other threads have waited for the lock. It may use
// l and `word`, the word of the waiters. Success: the result of f if it
// succeeds.
// The word is read once. If a thread begins to wait after that, this unlock may
// not be charged, but then MPROF_WAITER_CAME stays set for the next one. If the
// last waiter leaves after that, mprof_release_begin charges nothing.
#define UNLOCK(f, Type, Kind, IsCharged, Success)                              \
  SLOW_ENTRY int release_##f(Type *l) {                                        \
    struct mprof_release release;                                              \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    const uint32_t word = mprof_waiters_word((void *)l);                       \
    if (word == 0 || !(IsCharged)) {                                           \
      mprof_unlock_drops((void *)l, Kind);                                     \
      return hooked(l);                                                        \
    }                                                                          \
    mprof_release_begin(&release, (uintptr_t)l, MPROF_WAKES_NEXT_OWNER,        \
                        (uintptr_t)hooked, ENTRY_FRAME);                       \
    mprof_unlock_drops((void *)l, Kind);                                       \
    int r = hooked(l);                                                         \
    mprof_release_end(&release, r == (Success), Kind, (uintptr_t)hooked,       \
                      ENTRY_FRAME);                                            \
    return r;                                                                  \
  }                                                                            \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    const uint32_t word = mprof_watch_word((const void *)l);                   \
    if (mprof_likely(word == 0))                                               \
      MUSTTAIL return HOOKED(f)(l);                                            \
    if (word == mprof_order_word && mprof_order_pop((uintptr_t)l))             \
      MUSTTAIL return HOOKED(f)(l);                                            \
    MUSTTAIL return release_##f(l);                                            \
  }

// A wait for a condition, which also releases the condition's mutex. The mutex
// profile shows for this release how long other threads have waited for the
// mutex. The runtime computes this time before the wait begins, and records it
// after the wait has ended.
struct mprof_cond_wait {
  struct mprof_wait wait;
  struct mprof_release release;
};

// Begins the release of the mutex m and the wait for the condition c. op:
// address of the hooked function. frame: frame address of the entry. Inlined,
// because the entry itself must save the registers of its caller.
__attribute__((always_inline)) static inline void
mprof_cond_begin(struct mprof_cond_wait *w, void *c, void *m, uintptr_t op,
                 uintptr_t frame) {
  w->release = (struct mprof_release){.object = (uintptr_t)m};
  // Begin the release first, because the trace must show it before the wait.
  const uint32_t word = mprof_waiters_word(m);
  if (word != 0 && mprof_mutex_is_charged(m, word))
    mprof_release_begin(&w->release, (uintptr_t)m, MPROF_WAKES_NEXT_OWNER, op,
                        frame);
  else
    mprof_note_dropped((uintptr_t)m);
  mprof_cond_wait_begin(&w->wait, op, frame, (uintptr_t)c, (uintptr_t)m);
}

// Ends the wait and the release. If the call failed at once, the time that
// other threads have waited for the mutex is not recorded, because the mutex
// was not released.
static inline void mprof_cond_end(struct mprof_cond_wait *w,
                                  enum mprof_outcome outcome) {
  mprof_wait_end(&w->wait, outcome);
  if (outcome != MPROF_NO_WAIT)
    mprof_mutex_retaken(&w->wait, w->release.object);
  mprof_release_end(&w->release, outcome != MPROF_NO_WAIT, MPROF_KIND_mutex,
                    w->wait.op, w->wait.frame);
  if (mprof_order_on && outcome != MPROF_NO_WAIT)
    mprof_order_retaken(w->release.object, w->wait.op, w->wait.frame);
}

// Defines the entry of f, which waits for the condition c and releases the
// mutex m meanwhile.
#define COND_WAIT(f, Params, Args, Outcome)                                    \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_cond_wait w;                                                  \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_cond_begin(&w, c, m, (uintptr_t)hooked, ENTRY_FRAME);                \
    int r = CANCELLATION_POINT(mprof_cond_cancelled, &w, hooked Args);         \
    mprof_cond_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Defines the entry of a function f that wakes waiters, such as
// pthread_cond_signal. This event is not charged with the time of the waiters,
// because they have waited for it on purpose. The entry only stores the time of
// the event, at which the waits end. It stores the time before it calls f,
// because the object may no longer exist after the call.
#define WAKE(f, Type, Wakes)                                                   \
  SLOW_ENTRY int wake_##f(Type *object) {                                      \
    struct mprof_release release;                                              \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    if (mprof_waiters_word((void *)object) != 0)                               \
      mprof_release_begin(&release, (uintptr_t)object, Wakes,                  \
                          (uintptr_t)hooked, ENTRY_FRAME);                     \
    return hooked(object);                                                     \
  }                                                                            \
  MPROF_ENTRY int __mprof_##f(Type *object) {                                  \
    if (mprof_likely(!mprof_is_watched((const void *)object)))                 \
      MUSTTAIL return HOOKED(f)(object);                                       \
    MUSTTAIL return wake_##f(object);                                          \
  }

// Defines the entry of f, which initializes or destroys a lock.
#define LOCK_ENDS(Result, f, Params, Args)                                     \
  SLOW_ENTRY Result end_##f Params {                                           \
    if (mprof_order_on)                                                        \
      mprof_order_ended((uintptr_t)l);                                         \
    return HOOKED(f) Args;                                                     \
  }                                                                            \
  MPROF_ENTRY Result __mprof_##f Params {                                      \
    if (mprof_likely(!mprof_is_watched((const void *)l)))                      \
      MUSTTAIL return HOOKED(f) Args;                                          \
    MUSTTAIL return end_##f Args;                                              \
  }

// Returns whether thread t still runs. Returns false if t has ended but was not
// yet joined. For such a thread, glibc returns no clock, and musl returns the
// clock of thread 0. (In Linux, the id of a thread's CPU clock is
// ~thread << 3 | kind.)
static inline bool mprof_is_running(pthread_t t) {
  clockid_t clock;
  return pthread_getcpuclockid(t, &clock) == 0 && ~(clock >> 3) != 0;
}

// Defines the entry of a function f that waits for the end of thread t.
#define JOIN(f, Params, Args, Outcome)                                         \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    if (!mprof_is_running(t))                                                  \
      return hooked Args;                                                      \
    mprof_join_begin(&w, (uintptr_t)t, (uintptr_t)hooked, ENTRY_FRAME);        \
    int r = NOTED_CANCELLATION_POINT(&w, hooked Args);                         \
    mprof_wait_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Returns whether another thread is running the routine of a once control.
// glibc and musl set bit 0 of the control while the routine runs. If the result
// is false, the routine has already run, or the calling thread will run it.
// (Another thread may start the routine at the same moment.)
static inline bool mprof_once_is_under_way(const void *control) {
  return __atomic_load_n((const int *)control, __ATOMIC_RELAXED) & 1;
}

#endif // MPROF_RT_ENTRY_ENTRY_LOCK_H
