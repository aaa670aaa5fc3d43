// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of C11's lock and thread functions: the functions __mprof_f that
// instrumented code calls in place of f. This file does not include
// <threads.h>, because the compiler would find the runtime's own threads.h.
// Therefore this file repeats the declarations of C11's header. The constants
// have the same values in glibc and musl.

#include "entry/sync_entry.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "sys/abi_words.h"

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };

typedef struct mtx mtx_t;
typedef struct cnd cnd_t;
typedef struct once once_flag;
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

LOCK(SLOW_ENTRY, lock_mtx, mtx_lock, (mtx_t * l), (l), true, MPROF_KIND_mutex,
     mtx_trylock, thrd_busy, thrd_outcome)
// An mtx_t begins with a pthread_mutex_t.
MPROF_ENTRY int __mprof_mtx_lock(mtx_t *m) {
  if (mprof_likely(mprof_mutex_is_free((const void *)m)))
    MUSTTAIL return HOOKED(mtx_lock)(m);
  MUSTTAIL return lock_mtx(m);
}

LOCK(MPROF_ENTRY, __mprof_mtx_timedlock, mtx_timedlock,
     (mtx_t * l, const struct timespec *t), (l, t), true, MPROF_KIND_mutex,
     mtx_trylock, thrd_busy, thrd_outcome)

ENTRY_TRY(mtx_trylock, mtx_t, MPROF_KIND_mutex, thrd_busy)
UNLOCK(mtx_unlock, mtx_t, MPROF_KIND_mutex, mprof_mutex_is_charged(l),
       thrd_success)

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
