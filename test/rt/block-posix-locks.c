// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a wait for a POSIX mutex, read-write lock or spin lock is in the
// block profile, with the time until the unlock. The unlock that ended the wait
// is in the mutex profile, with the same time. Each wait and each such unlock
// is recorded once, and the innermost frame is the lock function itself, such
// as pthread_mutex_lock.
//
// RUN: %mprof_clang -fmprof -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static struct timespec real, mono; // distant times

// The main thread calls Take and Release, the waiting thread Wait and Undo.
#define CONTEST(Name, Take, Wait, Release, Undo)                               \
  static void take_##Name(void) { NEED(Take == 0); }                           \
  OWN_CODE(wait_##Name) static void wait_##Name(void *arg) {                   \
    (void)arg;                                                                 \
    NEED(Wait == 0);                                                           \
    NEED(Undo == 0);                                                           \
  }                                                                            \
  OWN_CODE(release_##Name) static void release_##Name(void) {                  \
    NEED(Release == 0);                                                        \
  }                                                                            \
  DECLARE_CODE(wait_##Name);                                                   \
  DECLARE_CODE(release_##Name);

#define MUTEX(Name, Wait)                                                      \
  CONTEST(Name, pthread_mutex_lock(&mutex), Wait,                              \
          pthread_mutex_unlock(&mutex), pthread_mutex_unlock(&mutex))
MUTEX(lock, pthread_mutex_lock(&mutex))
MUTEX(timedlock, pthread_mutex_timedlock(&mutex, &real))
#ifdef __GLIBC__
MUTEX(clocklock, pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono))
#endif

// A writer or a reader holds the lock.
#define RWLOCK(Name, Take, Wait)                                               \
  CONTEST(Name, pthread_rwlock_##Take(&rwlock), Wait,                          \
          pthread_rwlock_unlock(&rwlock), pthread_rwlock_unlock(&rwlock))
RWLOCK(rdlock, wrlock, pthread_rwlock_rdlock(&rwlock))
RWLOCK(wrlock, wrlock, pthread_rwlock_wrlock(&rwlock))
RWLOCK(wrlock_of_reader, rdlock, pthread_rwlock_wrlock(&rwlock))
RWLOCK(timedrdlock, wrlock, pthread_rwlock_timedrdlock(&rwlock, &real))
RWLOCK(timedwrlock, wrlock, pthread_rwlock_timedwrlock(&rwlock, &real))
RWLOCK(timedwrlock_of_reader, rdlock,
       pthread_rwlock_timedwrlock(&rwlock, &real))
#ifdef __GLIBC__
RWLOCK(clockrdlock, wrlock,
       pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &mono))
RWLOCK(clockwrlock, wrlock,
       pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &mono))
#endif

CONTEST(spin, pthread_spin_lock(&spin), pthread_spin_lock(&spin),
        pthread_spin_unlock(&spin), pthread_spin_unlock(&spin))

// A recursive mutex is free after the last unlock, a lock held by readers after
// the last reader. The earlier unlocks are in code of their own and are not
// charged.
OWN_CODE(early_unlock) static int early_unlock(int what) {
  int r =
      what ? pthread_rwlock_unlock(&rwlock) : pthread_mutex_unlock(&recursive);
  usleep(1000);
  return r;
}
DECLARE_CODE(early_unlock);

static int lock_twice(void) {
  return pthread_mutex_lock(&recursive) | pthread_mutex_lock(&recursive);
}
static int read_twice(void) {
  return pthread_rwlock_rdlock(&rwlock) | pthread_rwlock_rdlock(&rwlock);
}
CONTEST(recursive, lock_twice(), pthread_mutex_lock(&recursive),
        (early_unlock(0) | pthread_mutex_unlock(&recursive)),
        pthread_mutex_unlock(&recursive))
CONTEST(readers, read_twice(), pthread_rwlock_wrlock(&rwlock),
        (early_unlock(1) | pthread_rwlock_unlock(&rwlock)),
        pthread_rwlock_unlock(&rwlock))

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  real = after(1000000);
  mono = after_on(CLOCK_MONOTONIC, 1000000);
  NEED(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
#define ROW(Name, Object, WaitOp, ReleaseOp)                                   \
  {#Name,                                                                      \
   take_##Name,                                                                \
   wait_##Name,                                                                \
   release_##Name,                                                             \
   (void *)&Object,                                                            \
   0,                                                                          \
   (const void *)WaitOp,                                                       \
   (const void *)ReleaseOp,                                                    \
   CODE(wait_##Name),                                                          \
   CODE(release_##Name)}
#define MUTEX_ROW(Name, Op) ROW(Name, mutex, Op, pthread_mutex_unlock)
#define RWLOCK_ROW(Name, Op) ROW(Name, rwlock, Op, pthread_rwlock_unlock)
  const struct contest contests[] = {
      MUTEX_ROW(lock, pthread_mutex_lock),
      MUTEX_ROW(timedlock, pthread_mutex_timedlock),
#ifdef __GLIBC__
      MUTEX_ROW(clocklock, pthread_mutex_clocklock),
#endif
      RWLOCK_ROW(rdlock, pthread_rwlock_rdlock),
      RWLOCK_ROW(wrlock, pthread_rwlock_wrlock),
      RWLOCK_ROW(wrlock_of_reader, pthread_rwlock_wrlock),
      RWLOCK_ROW(timedrdlock, pthread_rwlock_timedrdlock),
      RWLOCK_ROW(timedwrlock, pthread_rwlock_timedwrlock),
      RWLOCK_ROW(timedwrlock_of_reader, pthread_rwlock_timedwrlock),
#ifdef __GLIBC__
      RWLOCK_ROW(clockrdlock, pthread_rwlock_clockrdlock),
      RWLOCK_ROW(clockwrlock, pthread_rwlock_clockwrlock),
#endif
      ROW(spin, spin, pthread_spin_lock, pthread_spin_unlock),
      ROW(recursive, recursive, pthread_mutex_lock, pthread_mutex_unlock),
      RWLOCK_ROW(readers, pthread_rwlock_wrlock),
  };
  for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
    run_contest(&contests[i], SECOND);
  const struct code early = CODE(early_unlock);
  check_waited("early unlock", "mutex",
               waited_in(mprof_mutex_profile, &early, SECOND),
               (struct expected){0, NULL, 0, 0});
  return failures != 0;
}
