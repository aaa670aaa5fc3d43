// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the entries of locks and blocking calls share. Only those files include
// this.
//
// Sites of MPROF_WAIT and MPROF_RELEASE keep a call of the function itself, so
// the entries refer to it weakly: a static program gets of libc what it uses.

#ifndef MPROF_RT_ENTRY_SYNC_ENTRY_H
#define MPROF_RT_ENTRY_SYNC_ENTRY_H

#include "entry/entry_lock.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "wait/contention.h"
#include "wait/holds.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

// The frame that a stack begins above; in the entry itself.
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define WEAK(f) extern __typeof__(f) f __attribute__((weak))

static inline bool mprof_sync_wants(enum mprof_kind kind) {
  return __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED) >> kind & 1;
}

static inline uint32_t mprof_waiters_word(const void *object) {
  size_t slot = mprof_waiter_slot((uintptr_t)object);
  return __atomic_load_n(&__mprof_waiters[slot], __ATOMIC_RELAXED) &
         ~MPROF_WAITER_ANY;
}

// Of functions that return 0 or an errno value.
static inline enum mprof_outcome mprof_outcome_of(int error) {
  return error == 0 || error == EOWNERDEAD ? MPROF_GOT
         : error == ETIMEDOUT              ? MPROF_TIMEOUT
                                           : MPROF_NO_WAIT;
}

// Cancellation unwinds the entry without coming back to it, as a longjmp from a
// signal handler does. Both run what is registered so, which of all ways needs
// neither an unwinder nor a setjmp.
void _pthread_cleanup_push(mprof_cleanup *buffer, void (*routine)(void *),
                           void *arg);
void _pthread_cleanup_pop(mprof_cleanup *buffer, int execute);

// Evaluates call, a cancellation point; routine ends wait w if it does not come
// back.
#define POINT(routine, w, call)                                                \
  ({                                                                           \
    mprof_cleanup buffer_;                                                     \
    _pthread_cleanup_push(&buffer_, (routine), (w));                           \
    __typeof__(call) result_ = (call);                                         \
    _pthread_cleanup_pop(&buffer_, 0);                                         \
    result_;                                                                   \
  })

// The same of a wait that leaves nothing behind but its note, if it has one.
#define NOTED_POINT(w, call)                                                   \
  ((w)->is_noted ? POINT(mprof_wait_cancelled, (w), call) : (call))

// --- bodies of entries ---

// Body of an entry for f(lock, ...): Try gives Busy where f would wait, and
// else f's result.
#define TRY_THEN_WAIT(f, Args, Kind, Lock, Try, Busy, Outcome)                 \
  do {                                                                         \
    struct mprof_wait w_;                                                      \
    if (!mprof_sync_wants(Kind))                                               \
      return f Args;                                                           \
    int r_ = Try(Lock);                                                        \
    if (r_ != (Busy)) {                                                        \
      if (Outcome(r_) == MPROF_GOT)                                            \
        mprof_hold_taken((uintptr_t)(Lock), Kind, (uintptr_t)f, FRAME);        \
      return r_;                                                               \
    }                                                                          \
    mprof_wait_begin(&w_, Kind, (uintptr_t)f, FRAME, (uintptr_t)(Lock));       \
    r_ = NOTED_POINT(&w_, f Args);                                             \
    mprof_wait_end(&w_, Outcome(r_));                                          \
    if (Outcome(r_) == MPROF_GOT)                                              \
      mprof_hold_taken((uintptr_t)(Lock), Kind, (uintptr_t)f, FRAME);          \
    return r_;                                                                 \
  } while (0)

// A try that the program makes itself.
#define TRY(f, Type, Kind, Busy)                                               \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    int r = f(l);                                                              \
    if (r == 0)                                                                \
      mprof_hold_taken((uintptr_t)l, Kind, (uintptr_t)f, FRAME);               \
    else if (r == (Busy))                                                      \
      mprof_try_failed((uintptr_t)f, FRAME, (uintptr_t)l);                     \
    return r;                                                                  \
  }

// A lock that does not know all who hold it is known by the records alone, so
// none may outlive the hold.
static inline void mprof_unlock_drops(const void *lock, enum mprof_kind kind) {
  if (mprof_unlikely(mprof_holds_on) &&
      (kind != MPROF_KIND_mutex || !MPROF_LOCKS_NAME_OWNERS))
    mprof_hold_dropped((uintptr_t)lock);
}

// IsCharged: of a lock that somebody waits for.
#define UNLOCK(f, Type, Kind, IsCharged, Success)                              \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f(Type *l) {                                       \
    struct mprof_release release;                                              \
    mprof_unlock_drops((void *)l, Kind);                                       \
    if (mprof_waiters_word((void *)l) == 0 || !(IsCharged))                    \
      return f(l);                                                             \
    mprof_release_begin(&release, (uintptr_t)l, MPROF_WAKES_NEXT_OWNER,        \
                        (uintptr_t)f, FRAME);                                  \
    int r = f(l);                                                              \
    mprof_release_end(&release, r == (Success), Kind, (uintptr_t)f, FRAME);    \
    return r;                                                                  \
  }

// Waiting for a condition is a release of its mutex too, which is charged
// before and recorded after it.
struct mprof_cond_wait {
  struct mprof_wait wait;
  struct mprof_release release;
};

static inline void mprof_cond_begin(struct mprof_cond_wait *w, void *c, void *m,
                                    uintptr_t op, uintptr_t frame) {
  w->release = (struct mprof_release){.object = 0};
  if (mprof_mutex_is_charged(m)) // before the trace says that this one waits
    mprof_release_begin(&w->release, (uintptr_t)m, MPROF_WAKES_NEXT_OWNER, op,
                        frame);
  mprof_wait_begin(&w->wait, MPROF_KIND_cond, op, frame, (uintptr_t)c);
}

// A wait that failed at once has released nothing.
static inline void mprof_cond_end(struct mprof_cond_wait *w,
                                  enum mprof_outcome outcome) {
  mprof_wait_end(&w->wait, outcome);
  mprof_release_end(&w->release, outcome != MPROF_NO_WAIT, MPROF_KIND_mutex,
                    w->wait.op, w->wait.frame);
}

#define COND_WAIT(f, Params, Args, Outcome)                                    \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_cond_wait w;                                                  \
    mprof_cond_begin(&w, c, m, (uintptr_t)f, FRAME);                           \
    int r = POINT(mprof_cond_cancelled, &w, f Args);                           \
    mprof_cond_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Whoever wakes others for a reason is not to blame for it: only the time is
// stamped, before the call, after which the object may be gone.
#define WAKE(f, Type, Wakes)                                                   \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f(Type *object) {                                  \
    struct mprof_release release;                                              \
    if (mprof_waiters_word((void *)object) != 0)                               \
      mprof_release_begin(&release, (uintptr_t)object, Wakes, (uintptr_t)f,    \
                          FRAME);                                              \
    return f(object);                                                          \
  }

// False for a thread that has ended and was not joined yet: glibc has no clock
// of it, and musl one of thread 0. (The kernel's CPUCLOCK: ~thread << 3 |
// kind.)
static inline bool mprof_is_running(pthread_t t) {
  clockid_t clock;
  return pthread_getcpuclockid(t, &clock) == 0 && ~(clock >> 3) != 0;
}

#define JOIN(f, Params, Args, Outcome)                                         \
  WEAK(f);                                                                     \
  MPROF_ENTRY int __mprof_##f Params {                                         \
    struct mprof_wait w;                                                       \
    if (!mprof_is_running(t))                                                  \
      return f Args;                                                           \
    mprof_join_begin(&w, (uintptr_t)t, (uintptr_t)f, FRAME);                   \
    int r = NOTED_POINT(&w, f Args);                                           \
    mprof_wait_end(&w, Outcome(r));                                            \
    return r;                                                                  \
  }

// Bit 0 while another thread runs the routine, in glibc and in musl. Whoever
// sees 0 runs it, but for one who comes in the same instant.
static inline bool mprof_once_is_under_way(const void *control) {
  return __atomic_load_n((const int *)control, __ATOMIC_RELAXED) & 1;
}

#endif // MPROF_RT_ENTRY_SYNC_ENTRY_H
