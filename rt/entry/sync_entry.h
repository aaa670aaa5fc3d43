// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers and macros for the entries of locks and blocking calls. Only the
// files of these entries include this header.
//
//   lock:    try; if the try fails: mprof_wait_begin, hooked function,
//            mprof_wait_end
//   unlock:  if a thread waits: mprof_release_begin, hooked function,
//            mprof_release_end; otherwise only the hooked function
//
// In the code of MPROF_WAIT and MPROF_RELEASE sites (hooks.def), a call of the
// hooked function itself remains. So the entries refer to the function weakly,
// and a static program links only the parts of libc that it uses.

#ifndef MPROF_RT_ENTRY_SYNC_ENTRY_H
#define MPROF_RT_ENTRY_SYNC_ENTRY_H

#include "entry/entry_lock.h"
#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

// Frame address of the entry: the recorded stack consists of the frames above
// this address. Use the macro in the entry itself.
#define ENTRY_FRAME ((uintptr_t)__builtin_frame_address(0))
#define WEAK(f) extern __typeof__(f) f __attribute__((weak))

// Returns whether waits of a kind are recorded.
static inline bool mprof_sync_wants(enum mprof_kind kind) {
  return __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED) >> kind & 1;
}

// Returns the waiters' word of an object, without its bit MPROF_WAITER_ANY. The
// result is 0 if no thread waits for an object of the same slot.
static inline uint32_t mprof_waiters_word(const void *object) {
  size_t slot = mprof_waiter_slot((uintptr_t)object);
  return __atomic_load_n(&__mprof_waiters[slot], __ATOMIC_RELAXED) &
         ~MPROF_WAITER_ANY;
}

// Returns the outcome of a wait. error: the hooked function's result, 0 or an
// errno value.
static inline enum mprof_outcome mprof_outcome_of(int error) {
  return error == 0 || error == EOWNERDEAD ? MPROF_GOT
         : error == ETIMEDOUT              ? MPROF_TIMEOUT
                                           : MPROF_NO_WAIT;
}

// Registers a cleanup routine with libc. libc runs the routine if the hooked
// function does not return to the entry: when the thread is cancelled, or when
// a signal handler calls longjmp. Any other way needs an unwinder or a setjmp.
void _pthread_cleanup_push(mprof_cleanup *buffer, void (*routine)(void *),
                           void *arg);
void _pthread_cleanup_pop(mprof_cleanup *buffer, int execute);

// Evaluates call, which is a cancellation point. If call does not return,
// routine ends the wait w.
#define CANCELLATION_POINT(routine, w, call)                                   \
  ({                                                                           \
    mprof_cleanup buffer_;                                                     \
    _pthread_cleanup_push(&buffer_, (routine), (w));                           \
    __typeof__(call) result_ = (call);                                         \
    _pthread_cleanup_pop(&buffer_, 0);                                         \
    result_;                                                                   \
  })

// Evaluates call, which is a cancellation point. If the wait w is noted, that
// is, recorded for other threads that list the waits, and call does not return,
// mprof_wait_cancelled ends w. Registers nothing if w is not noted, since then
// there is nothing to undo.
#define NOTED_CANCELLATION_POINT(w, call)                                      \
  ((w)->is_noted ? CANCELLATION_POINT(mprof_wait_cancelled, (w), call) : (call))

// --- bodies of entries ---

// Body of an entry for f(lock, ...): calls Try first, and waits in f only if
// Try returns Busy. Any other result of Try is also the result of f.
#define TRY_THEN_WAIT(f, Args, Kind, Lock, Try, Busy, Outcome)                 \
  ({                                                                           \
    struct mprof_wait w_;                                                      \
    int r_;                                                                    \
    if (mprof_unlikely(!mprof_sync_wants(Kind))) {                             \
      r_ = f Args;                                                             \
    } else {                                                                   \
      r_ = Try(Lock);                                                          \
      if (mprof_unlikely(r_ == (Busy))) {                                      \
        mprof_wait_begin(&w_, Kind, (uintptr_t)f, ENTRY_FRAME,                 \
                         (uintptr_t)(Lock));                                   \
        r_ = NOTED_CANCELLATION_POINT(&w_, f Args);                            \
        mprof_wait_end(&w_, Outcome(r_));                                      \
        if (Outcome(r_) == MPROF_GOT)                                          \
          mprof_hold_taken((uintptr_t)(Lock), Kind, (uintptr_t)f,              \
                           ENTRY_FRAME);                                       \
      } else if (Outcome(r_) == MPROF_GOT) {                                   \
        mprof_hold_taken((uintptr_t)(Lock), Kind, (uintptr_t)f, ENTRY_FRAME);  \
      }                                                                        \
    }                                                                          \
    r_;                                                                        \
  })

// Defines the entry of a trylock function that the program itself calls.
#define ENTRY_TRY(f, Type, Kind, Busy)                                         \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    int r = f(l);                                                              \
    if (r == 0)                                                                \
      mprof_hold_taken((uintptr_t)l, Kind, (uintptr_t)f, ENTRY_FRAME);         \
    else if (r == (Busy))                                                      \
      mprof_try_failed((uintptr_t)f, ENTRY_FRAME, (uintptr_t)l);               \
    return r;                                                                  \
  }

// Drops the hold record of a lock that is about to be unlocked. Some locks do
// not name all their holders, so the runtime knows the holders from the records
// alone. A record must therefore not outlive its hold.
static inline void mprof_unlock_drops(const void *lock, enum mprof_kind kind) {
  if (mprof_unlikely(mprof_holds_on) &&
      (kind != MPROF_KIND_mutex || !MPROF_LOCKS_NAME_OWNERS))
    mprof_hold_dropped((uintptr_t)lock);
}

// Defines the entry of an unlock. IsCharged: whether the unlock is charged for
// the time of the threads that wait for the lock. Success: result of f if it
// succeeds.
#define UNLOCK(f, Type, Kind, IsCharged, Success)                              \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    struct mprof_release release;                                              \
    mprof_unlock_drops((void *)l, Kind);                                       \
    if (mprof_waiters_word((void *)l) == 0 || !(IsCharged))                    \
      return f(l);                                                             \
    mprof_release_begin(&release, (uintptr_t)l, MPROF_WAKES_NEXT_OWNER,        \
                        (uintptr_t)f, ENTRY_FRAME);                            \
    int r = f(l);                                                              \
    mprof_release_end(&release, r == (Success), Kind, (uintptr_t)f,            \
                      ENTRY_FRAME);                                            \
    return r;                                                                  \
  }

// A wait for a condition also releases the condition's mutex. The runtime
// charges this release before the wait begins, and records it after the wait
// has ended.
struct mprof_cond_wait {
  struct mprof_wait wait;
  struct mprof_release release;
};

// Begins the release of the mutex m and the wait for the condition c.
static inline void mprof_cond_begin(struct mprof_cond_wait *w, void *c, void *m,
                                    uintptr_t op, uintptr_t frame) {
  w->release = (struct mprof_release){.object = 0};
  // Charge the release before the trace shows that this thread waits.
  if (mprof_mutex_is_charged(m))
    mprof_release_begin(&w->release, (uintptr_t)m, MPROF_WAKES_NEXT_OWNER, op,
                        frame);
  mprof_wait_begin(&w->wait, MPROF_KIND_cond, op, frame, (uintptr_t)c);
}

// Ends the wait and the release. If the wait failed at once, drops the release,
// because the mutex was not released.
static inline void mprof_cond_end(struct mprof_cond_wait *w,
                                  enum mprof_outcome outcome) {
  mprof_wait_end(&w->wait, outcome);
  mprof_release_end(&w->release, outcome != MPROF_NO_WAIT, MPROF_KIND_mutex,
                    w->wait.op, w->wait.frame);
}

// Defines the entry of a wait for a condition.
#define COND_WAIT(f, Params, Args, Outcome)                                    \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_cond_wait w;                                                  \
    mprof_cond_begin(&w, c, m, (uintptr_t)f, ENTRY_FRAME);                     \
    int r = CANCELLATION_POINT(mprof_cond_cancelled, &w, f Args);              \
    mprof_cond_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Defines the entry of a call that wakes waiters, such as pthread_cond_signal.
// The caller is not charged for the wait, since the waiters waited for this
// event on purpose. The entry only stamps the time. It does so before the call,
// because the object may no longer exist afterwards.
#define WAKE(f, Type, Wakes)                                                   \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f(Type *object) {                                  \
    struct mprof_release release;                                              \
    if (mprof_waiters_word((void *)object) != 0)                               \
      mprof_release_begin(&release, (uintptr_t)object, Wakes, (uintptr_t)f,    \
                          ENTRY_FRAME);                                        \
    return f(object);                                                          \
  }

// Returns whether a thread still runs: false if it has ended but was not joined
// yet. For such a thread glibc returns no clock, and musl returns the clock of
// thread 0. (Linux: CPUCLOCK is ~thread << 3 | kind.)
static inline bool mprof_is_running(pthread_t t) {
  clockid_t clock;
  return pthread_getcpuclockid(t, &clock) == 0 && ~(clock >> 3) != 0;
}

// Defines the entry of a join.
#define JOIN(f, Params, Args, Outcome)                                         \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_wait w;                                                       \
    if (!mprof_is_running(t))                                                  \
      return f Args;                                                           \
    mprof_join_begin(&w, (uintptr_t)t, (uintptr_t)f, ENTRY_FRAME);             \
    int r = NOTED_CANCELLATION_POINT(&w, f Args);                              \
    mprof_wait_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Returns whether another thread is running the routine of a once control. In
// glibc and musl, bit 0 of the control is set meanwhile. If the result is
// false, the caller will run the routine itself, unless another thread starts
// it at the same instant.
static inline bool mprof_once_is_under_way(const void *control) {
  return __atomic_load_n((const int *)control, __ATOMIC_RELAXED) & 1;
}

#endif // MPROF_RT_ENTRY_SYNC_ENTRY_H
