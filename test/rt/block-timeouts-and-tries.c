// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a wait that times out is in the block profile with its whole time.
// The mutex profile charges no unlock with this wait. A call that fails with an
// error, or that gets a free lock at once, is no wait. A failed try (such as
// pthread_mutex_trylock) counts, without a time, only if block_kinds names try.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=sync+try} %t try

#include "waited.h"

#include <semaphore.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t c11;
static cnd_t c11_cond;
static sem_t sem;
static struct timespec soon, past, bad = {0, 1000000000};

// Calls are made in a thread that holds no lock but `own`.
#define CALL(Name, Call, Result)                                               \
  OWN_CODE(Name) static void Name(void) {                                      \
    errno = 0;                                                                 \
    int r = Call;                                                              \
    NEED(r == (Result) || errno == (Result));                                  \
  }                                                                            \
  DECLARE_CODE(Name);

CALL(timedlock, pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT)
CALL(timedrdlock, pthread_rwlock_timedrdlock(&rwlock, &soon), ETIMEDOUT)
CALL(timedwrlock, pthread_rwlock_timedwrlock(&read_lock, &soon), ETIMEDOUT)
CALL(cond_timedwait, pthread_cond_timedwait(&cond, &own, &soon), ETIMEDOUT)
CALL(semaphore, sem_timedwait(&sem, &soon), ETIMEDOUT)
CALL(c11_timedlock, mtx_timedlock(&c11, &soon), thrd_timedout)
CALL(c11_timedwait, cnd_timedwait(&c11_cond, (mtx_t *)&own, &soon),
     thrd_timedout)

CALL(bad_timedlock, pthread_mutex_timedlock(&mutex, &bad), EINVAL)
CALL(bad_rdlock, pthread_rwlock_timedrdlock(&rwlock, &bad), EINVAL)
CALL(bad_clock, pthread_mutex_clocklock(&mutex, 77, &soon), EINVAL)
CALL(bad_sem, sem_timedwait(&sem, &bad), EINVAL)
CALL(bad_cond, pthread_cond_timedwait(&cond, &own, &bad), EINVAL)
CALL(free_rdlock, pthread_rwlock_timedrdlock(&read_lock, &past), 0)

CALL(try_mutex, pthread_mutex_trylock(&mutex), EBUSY)
CALL(try_rdlock, pthread_rwlock_tryrdlock(&rwlock), EBUSY)
CALL(try_wrlock, pthread_rwlock_trywrlock(&read_lock), EBUSY)
CALL(try_spin, pthread_spin_trylock(&spin), EBUSY)
CALL(try_sem, sem_trywait(&sem), EAGAIN)
CALL(try_c11, mtx_trylock(&c11), thrd_busy)

static const struct row {
  const char *name;
  void (*call)(void);
  int what; // 0: a wait, 1: no wait, 2: a try
  const void *op;
  struct code code;
} *rows;

static int with_tries;

static void run(void *arg) {
  (void)arg;
  NEED(pthread_mutex_lock(&own) == 0);
  for (const struct row *r = rows; r->name; r++) {
    soon = after(10);
    double first = now();
    r->call();
    double took = now() - first;
    struct expected e = {r->what == 0 || (r->what == 2 && with_tries), r->op,
                         r->what == 0 ? 0.005 : 0, took};
    check_waited(r->name, "block",
                 waited_in(mprof_block_profile, &r->code, SECOND), e);
  }
  pthread_mutex_unlock(&own);
}

OWN_CODE(releases) static void release_all(void) {
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_unlock(&rwlock);
  pthread_rwlock_unlock(&read_lock);
  pthread_spin_unlock(&spin);
  mtx_unlock(&c11);
}
DECLARE_CODE(releases);

int main(int argc, char **argv) {
  (void)argv;
  with_tries = argc > 1;
  NEED(mtx_init(&c11, mtx_timed) == thrd_success);
  NEED(cnd_init(&c11_cond) == thrd_success);
  NEED(sem_init(&sem, 0, 0) == 0);
  NEED(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  past = after(-1000);
#define ROW(Name, What, Op) {#Name, Name, What, (const void *)Op, CODE(Name)}
  const struct row all[] = {
      ROW(timedlock, 0, pthread_mutex_timedlock),
      ROW(timedrdlock, 0, pthread_rwlock_timedrdlock),
      ROW(timedwrlock, 0, pthread_rwlock_timedwrlock),
      ROW(cond_timedwait, 0, pthread_cond_timedwait),
      ROW(semaphore, 0, sem_timedwait),
      ROW(c11_timedlock, 0, mtx_timedlock),
      ROW(c11_timedwait, 0, cnd_timedwait),
      ROW(bad_timedlock, 1, NULL),
      ROW(bad_rdlock, 1, NULL),
      ROW(bad_clock, 1, NULL),
      ROW(bad_sem, 1, NULL),
      ROW(bad_cond, 1, NULL),
      ROW(free_rdlock, 1, NULL),
      ROW(try_mutex, 2, pthread_mutex_trylock),
      ROW(try_rdlock, 2, pthread_rwlock_tryrdlock),
      ROW(try_wrlock, 2, pthread_rwlock_trywrlock),
      ROW(try_spin, 2, pthread_spin_trylock),
      ROW(try_sem, 2, sem_trywait),
      ROW(try_c11, 2, mtx_trylock),
      {NULL, NULL, 0, NULL, {NULL, 0, 0}},
  };
  rows = all;
  NEED(pthread_mutex_lock(&mutex) == 0);
  NEED(pthread_rwlock_wrlock(&rwlock) == 0);
  NEED(pthread_rwlock_rdlock(&read_lock) == 0);
  NEED(pthread_spin_lock(&spin) == 0);
  NEED(mtx_lock(&c11) == thrd_success);
  elsewhere(run, NULL);
  release_all();
  const struct code c = CODE(releases);
  check_waited("unlocks", "mutex", waited_in(mprof_mutex_profile, &c, SECOND),
               (struct expected){0, NULL, 0, 0});
  return failures != 0;
}
