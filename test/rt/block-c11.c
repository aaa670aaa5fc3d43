// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: waits for C11 mutexes, conditions, threads and call_once are in the
// block profile. An unlock that ends a wait for a C11 mutex is in the mutex
// profile.
//
// RUN: %mprof_clang -fmprof -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

#include <threads.h>

static mtx_t mutex, recursive;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT;
static int flag, may_end;
static struct timespec real; // a distant time
static thrd_t other;

#define WAIT(Name, Body)                                                       \
  OWN_CODE(wait_##Name) static void wait_##Name(void *arg) {                   \
    (void)arg;                                                                 \
    Body                                                                       \
  }                                                                            \
  DECLARE_CODE(wait_##Name);
#define DO(Name, Body)                                                         \
  OWN_CODE(do_##Name) static void do_##Name(void){Body} DECLARE_CODE(do_##Name);

static void take(void) { NEED(mtx_lock(&mutex) == thrd_success); }
static void take_twice(void) {
  NEED(mtx_lock(&recursive) == thrd_success);
  NEED(mtx_lock(&recursive) == thrd_success);
}
WAIT(lock, {
  NEED(mtx_lock(&mutex) == thrd_success);
  mtx_unlock(&mutex);
})
WAIT(timedlock, {
  NEED(mtx_timedlock(&mutex, &real) == thrd_success);
  mtx_unlock(&mutex);
})
WAIT(recursive, {
  NEED(mtx_lock(&recursive) == thrd_success);
  mtx_unlock(&recursive);
})
DO(lock, { mtx_unlock(&mutex); })
DO(timedlock, { mtx_unlock(&mutex); })
OWN_CODE(early) static void early(void) { mtx_unlock(&recursive); }
DECLARE_CODE(early);
DO(recursive, {
  early();
  mtx_unlock(&recursive);
})

WAIT(cond, {
  mtx_lock(&mutex);
  while (!flag)
    NEED(cnd_wait(&cond, &mutex) == thrd_success);
  flag = 0;
  mtx_unlock(&mutex);
})
WAIT(timedcond, {
  mtx_lock(&mutex);
  while (!flag)
    NEED(cnd_timedwait(&cond, &mutex, &real) == thrd_success);
  flag = 0;
  mtx_unlock(&mutex);
})
DO(cond, {
  mtx_lock(&mutex);
  flag = 1;
  mtx_unlock(&mutex);
  cnd_signal(&cond);
})
DO(timedcond, {
  mtx_lock(&mutex);
  flag = 1;
  mtx_unlock(&mutex);
  cnd_broadcast(&cond);
})

static void until_may_end(void) {
  while (!__atomic_load_n(&may_end, __ATOMIC_ACQUIRE))
    usleep(1000);
}
static int end_later(void *arg) {
  (void)arg;
  until_may_end();
  return 5;
}
static int first_of_once(void *arg) {
  (void)arg;
  call_once(&once, until_may_end);
  return 0;
}
static void create(void) {
  may_end = 0;
  NEED(thrd_create(&other, end_later, NULL) == thrd_success);
}
static void begin_once(void) {
  may_end = 0;
  NEED(thrd_create(&other, first_of_once, NULL) == thrd_success);
  while (!(__atomic_load_n((int *)&once, __ATOMIC_ACQUIRE) & 1))
    usleep(100);
}
WAIT(join, {
  int r;
  NEED(thrd_join(other, &r) == thrd_success && r == 5);
})
WAIT(once, { call_once(&once, until_may_end); })
DO(join, { __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE); })
DO(once, { __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE); })

int main(void) {
  real = after(1000000);
  NEED(mtx_init(&mutex, mtx_timed) == thrd_success);
  NEED(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
  NEED(cnd_init(&cond) == thrd_success);
#define ROW(Name, Take, Object, Op, ReleaseOp)                                 \
  {#Name,                                                                      \
   Take,                                                                       \
   wait_##Name,                                                                \
   do_##Name,                                                                  \
   Object,                                                                     \
   SYS_futex,                                                                  \
   (const void *)Op,                                                           \
   (const void *)ReleaseOp,                                                    \
   CODE(wait_##Name),                                                          \
   CODE(do_##Name)}
  const struct contest contests[] = {
      ROW(lock, take, &mutex, mtx_lock, mtx_unlock),
      ROW(timedlock, take, &mutex, mtx_timedlock, mtx_unlock),
      ROW(recursive, take_twice, &recursive, mtx_lock, mtx_unlock),
      ROW(cond, NULL, &cond, cnd_wait, NULL),
      ROW(timedcond, NULL, &cond, cnd_timedwait, NULL),
      ROW(join, create, NULL, thrd_join, NULL),
      ROW(once, begin_once, NULL, call_once, NULL),
  };
  for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
    run_contest(&contests[i], SECOND);
  const struct code c = CODE(early);
  check_waited("early unlock", "mutex",
               waited_in(mprof_mutex_profile, &c, SECOND),
               (struct expected){0, NULL, 0, 0});
  return failures != 0;
}
