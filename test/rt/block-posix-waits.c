// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a wait for a condition, a barrier, a semaphore, the end of a thread
// or another thread's pthread_once is in the block profile. No such wait is in
// the mutex profile. If the signalling thread keeps the mutex locked, two waits
// are recorded: one for the condition until the signal, and one for the mutex.
//
// RUN: %mprof_clang -fmprof -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static int flag;
static struct timespec real, mono; // distant times
static sem_t other_may_end;
static struct thread other;

#define WAIT(Name, Body)                                                       \
  OWN_CODE(wait_##Name) static void wait_##Name(void *arg) {                   \
    (void)arg;                                                                 \
    Body                                                                       \
  }                                                                            \
  DECLARE_CODE(wait_##Name);
#define COND_WAIT(Name, Call)                                                  \
  WAIT(Name, {                                                                 \
    NEED(pthread_mutex_lock(&mutex) == 0);                                     \
    while (!flag)                                                              \
      NEED(Call == 0);                                                         \
    flag = 0;                                                                  \
    pthread_mutex_unlock(&mutex);                                              \
  })
COND_WAIT(cond_wait, pthread_cond_wait(&cond, &mutex))
COND_WAIT(cond_timedwait, pthread_cond_timedwait(&cond, &mutex, &real))
#ifdef __GLIBC__
COND_WAIT(cond_clockwait,
          pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono))
#endif
WAIT(sem_wait, { NEED(sem_wait(&sem) == 0); })
WAIT(sem_timedwait, { NEED(sem_timedwait(&sem, &real) == 0); })
#ifdef __GLIBC__
WAIT(sem_clockwait, { NEED(sem_clockwait(&sem, CLOCK_MONOTONIC, &mono) == 0); })
#endif
WAIT(barrier, { NEED(pthread_barrier_wait(&barrier) <= 0); })
WAIT(join, { NEED(pthread_join(other.id, NULL) == 0); })
WAIT(timedjoin, { NEED(pthread_timedjoin_np(other.id, NULL, &real) == 0); })
#ifdef __GLIBC__
WAIT(clockjoin, {
  NEED(pthread_clockjoin_np(other.id, NULL, CLOCK_MONOTONIC, &mono) == 0);
})
#endif

static void wait_to_end(void *arg) {
  (void)arg;
  while (sem_trywait(&other_may_end) != 0)
    usleep(1000);
}
static void start_other(void) { start(&other, wait_to_end, NULL); }
static void end_other(void) { sem_post(&other_may_end); }

static void run_once(void) { wait_to_end(NULL); }
static void call_once_first(void *arg) {
  (void)arg;
  NEED(pthread_once(&once, run_once) == 0);
}
static void begin_once(void) {
  start(&other, call_once_first, NULL);
  while (!(__atomic_load_n((int *)&once, __ATOMIC_ACQUIRE) & 1))
    usleep(100);
}
WAIT(once, { NEED(pthread_once(&once, run_once) == 0); })

OWN_CODE(releases) static void signal_unlocked(void) {
  pthread_mutex_lock(&mutex);
  flag = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&cond);
}
OWN_CODE(releases) static void broadcast_unlocked(void) {
  pthread_mutex_lock(&mutex);
  flag = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_broadcast(&cond);
}
OWN_CODE(releases) static void post(void) { sem_post(&sem); }
#ifdef __GLIBC__
OWN_CODE(releases)
#else // musl does not tell which thread came last
__attribute__((noinline))
#endif
static void come(void) { NEED(pthread_barrier_wait(&barrier) <= 0); }
DECLARE_CODE(releases);

// The signal ends the wait for the condition. The unlock 50 ms later ends the
// wait for the mutex, which has the same stack.
WAIT(stamp, {
  NEED(pthread_mutex_lock(&mutex) == 0);
  while (!flag)
    NEED(pthread_cond_wait(&cond, &mutex) == 0);
  flag = 0;
  pthread_mutex_unlock(&mutex);
})
static void until_signalled(void) {
  struct thread t;
  double first = now();
  start(&t, wait_stamp, NULL);
  until_waited_for(&cond);
  double least = now();
  pthread_mutex_lock(&mutex);
  usleep(HOLD_MS * 1000);
  flag = 1;
  pthread_cond_signal(&cond);
  until_waiting(&t, &mutex, sizeof(mutex));
  usleep(50000);
  least = now() - least;
  pthread_mutex_unlock(&mutex);
  double most = now() - first;
  finish(&t);
  const struct code c = CODE(wait_stamp);
#ifdef __GLIBC__ // with musl, only the wait for the condition is recorded
  check_waited("until the signal", "block",
               waited_in(mprof_block_profile, &c, SECOND),
               (struct expected){2, (void *)pthread_cond_wait, least, most});
#else
  (void)c, (void)least, (void)most;
#endif
}

int main(void) {
  real = after(1000000);
  mono = after_on(CLOCK_MONOTONIC, 1000000);
  NEED(sem_init(&sem, 0, 0) == 0);
  NEED(sem_init(&other_may_end, 0, 0) == 0);
  NEED(pthread_barrier_init(&barrier, NULL, 2) == 0);
#define ROW(Name, Take, Release, Object, Op)                                   \
  {#Name,                                                                      \
   Take,                                                                       \
   wait_##Name,                                                                \
   Release,                                                                    \
   Object,                                                                     \
   SYS_futex,                                                                  \
   (const void *)Op,                                                           \
   NULL,                                                                       \
   CODE(wait_##Name),                                                          \
   CODE(releases)}
  const struct contest contests[] = {
      ROW(cond_wait, NULL, signal_unlocked, &cond, pthread_cond_wait),
      ROW(cond_timedwait, NULL, broadcast_unlocked, &cond,
          pthread_cond_timedwait),
#ifdef __GLIBC__
      ROW(cond_clockwait, NULL, signal_unlocked, &cond, pthread_cond_clockwait),
#endif
      ROW(sem_wait, NULL, post, &sem, sem_wait),
      ROW(sem_timedwait, NULL, post, &sem, sem_timedwait),
#ifdef __GLIBC__
      ROW(sem_clockwait, NULL, post, &sem, sem_clockwait),
#endif
      ROW(barrier, NULL, come, NULL, pthread_barrier_wait),
      ROW(join, start_other, end_other, NULL, pthread_join),
      ROW(timedjoin, start_other, end_other, NULL, pthread_timedjoin_np),
#ifdef __GLIBC__
      ROW(clockjoin, start_other, end_other, NULL, pthread_clockjoin_np),
#endif
      ROW(once, begin_once, end_other, NULL, pthread_once),
  };
  for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
    run_contest(&contests[i], SECOND);
  finish(&other); // the thread of pthread_once
  until_signalled();
  // Neither the last thread at a barrier nor a thread that signals or posts
  // waits.
  const struct code r = CODE(releases);
  check_waited("releases", "block", waited_in(mprof_block_profile, &r, SECOND),
               (struct expected){0, NULL, 0, 0});
  return failures != 0;
}
