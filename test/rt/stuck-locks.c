// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads in a deadlock are reported as stuck, for each kind of lock.
// The report calls them certain if the locks contain their owners, and likely
// otherwise. A thread is not stuck if its wait has a timeout, if another
// process may release the lock, or if the lock's owner runs.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: for c in mutex-taken-twice two-rwlocks rwlock-upgrade rwlock-and-mutex \
// RUN:     c11-mutexes annotated-locks spinlocks \
// RUN:     timed-wait owner-runs shared-mutex; do \
// RUN:   %run{stuck=1} timeout 600 ./app $c && \
// RUN:   printf '%%s: ' $c && tail -n 1 leak.txt || exit 1; done > out.txt
// RUN: FileCheck %s < out.txt
//
// CHECK:      mutex-taken-twice: SUMMARY: MProf: threadleak: 1 threads, 1 certain, 0 likely, 1 cycles{{$}}
// CHECK-NEXT: two-rwlocks: SUMMARY: MProf: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles{{$}}
// CHECK-NEXT: rwlock-upgrade: SUMMARY: MProf: threadleak: 1 threads, 0 certain, 1 likely, 1 cycles{{$}}
// CHECK-NEXT: rwlock-and-mutex: SUMMARY: MProf: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles{{$}}
// CHECK-NEXT: c11-mutexes: SUMMARY: MProf: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles{{$}}
// CHECK-NEXT: annotated-locks: SUMMARY: MProf: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles{{$}}
// CHECK-NEXT: spinlocks: SUMMARY: MProf: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles{{$}}
// CHECK-NEXT: timed-wait: SUMMARY: MProf: threadleak: 0 threads, 0 certain, 0 likely, 0 cycles{{$}}
// CHECK-NEXT: owner-runs: SUMMARY: MProf: threadleak: 0 threads, 0 certain, 0 likely, 0 cycles{{$}}
// CHECK-NEXT: shared-mutex: SUMMARY: MProf: threadleak: 0 threads, 0 certain, 0 likely, 0 cycles{{$}}

#define _GNU_SOURCE
#include "check.h"

#include <mprof/mprof.h>

#include <pthread.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

// A process runs one case only, so that the cases share these locks.
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlocks[2] = {PTHREAD_RWLOCK_INITIALIZER,
                                      PTHREAD_RWLOCK_INITIALIZER};
static pthread_spinlock_t spinlocks[2];
static mtx_t c11_mutexes[2];
static volatile int annotated[2];

__attribute__((mprof_lock(1))) void my_lock(volatile int *l);
__attribute__((mprof_unlock(1))) void my_unlock(volatile int *l);
__attribute__((noinline)) void my_lock(volatile int *l) {
  while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
    usleep(1000);
}
__attribute__((noinline)) void my_unlock(volatile int *l) {
  __atomic_store_n(l, 0, __ATOMIC_RELEASE);
}

// --- ways to take a lock: only direct calls are instrumented ---

static void lock_mutex(void *lock) { pthread_mutex_lock(lock); }
static void lock_for_reading(void *lock) { pthread_rwlock_rdlock(lock); }
static void lock_for_writing(void *lock) { pthread_rwlock_wrlock(lock); }
static void lock_c11(void *lock) { mtx_lock(lock); }
static void lock_annotated(void *lock) { my_lock(lock); }
static void lock_spin(void *lock) { pthread_spin_lock(lock); }
static void lock_within_1000_s(void *lock) {
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  pthread_mutex_timedlock(lock, &late);
}

static void start(void *(*run)(void *), void *arg) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, run, arg) == 0);
  NEED(pthread_detach(t) == 0);
}

// --- two threads, each of which wants the lock that the other one holds ---

struct taker {
  void (*take_first)(void *), *first;
  void (*take_second)(void *), *second;
};

static pthread_barrier_t both_hold;

static void *take_both(void *arg) {
  const struct taker *t = arg;
  t->take_first(t->first);
  pthread_barrier_wait(&both_hold);
  t->take_second(t->second);
  return NULL;
}
static int take_both_c11(void *arg) {
  take_both(arg);
  return 0;
}

static void cross(struct taker takers[2]) {
  NEED(pthread_barrier_init(&both_hold, NULL, 2) == 0);
  start(take_both, &takers[0]);
  start(take_both, &takers[1]);
}

static void two_rwlocks(void) {
  static struct taker takers[2] = {
      {lock_for_writing, &rwlocks[0], lock_for_reading, &rwlocks[1]},
      {lock_for_writing, &rwlocks[1], lock_for_writing, &rwlocks[0]}};
  cross(takers);
}

static void rwlock_and_mutex(void) {
  static struct taker takers[2] = {
      {lock_for_reading, &rwlocks[0], lock_mutex, &mutexes[0]},
      {lock_mutex, &mutexes[0], lock_for_writing, &rwlocks[0]}};
  cross(takers);
}

static void two_c11_mutexes(void) {
  static struct taker takers[2] = {
      {lock_c11, &c11_mutexes[0], lock_c11, &c11_mutexes[1]},
      {lock_c11, &c11_mutexes[1], lock_c11, &c11_mutexes[0]}};
  NEED(mtx_init(&c11_mutexes[0], mtx_plain) == thrd_success);
  NEED(mtx_init(&c11_mutexes[1], mtx_plain) == thrd_success);
  NEED(pthread_barrier_init(&both_hold, NULL, 2) == 0);
  thrd_t t;
  NEED(thrd_create(&t, take_both_c11, &takers[0]) == thrd_success);
  NEED(thrd_create(&t, take_both_c11, &takers[1]) == thrd_success);
}

static void two_annotated_locks(void) {
  static struct taker takers[2] = {{lock_annotated, (void *)&annotated[0],
                                    lock_annotated, (void *)&annotated[1]},
                                   {lock_annotated, (void *)&annotated[1],
                                    lock_annotated, (void *)&annotated[0]}};
  cross(takers);
}

static void two_spinlocks(void) {
  static struct taker takers[2] = {
      {lock_spin, (void *)&spinlocks[0], lock_spin, (void *)&spinlocks[1]},
      {lock_spin, (void *)&spinlocks[1], lock_spin, (void *)&spinlocks[0]}};
  NEED(pthread_spin_init(&spinlocks[0], 0) == 0);
  NEED(pthread_spin_init(&spinlocks[1], 0) == 0);
  cross(takers);
}

static void timed_wait(void) {
  static struct taker takers[2] = {
      {lock_mutex, &mutexes[0], lock_within_1000_s, &mutexes[1]},
      {lock_mutex, &mutexes[1], lock_mutex, &mutexes[0]}};
  cross(takers);
}

// --- one thread ---

static void *lock_twice(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_lock(lock);
  return NULL;
}
static void mutex_taken_twice(void) { start(lock_twice, &mutexes[0]); }

static void *upgrade(void *lock) {
  pthread_rwlock_rdlock(lock);
  pthread_rwlock_wrlock(lock);
  return NULL;
}
static void rwlock_upgrade(void) { start(upgrade, &rwlocks[0]); }

static void *lock_once(void *lock) {
  pthread_mutex_lock(lock);
  return NULL;
}

// The main thread holds the mutex and goes on.
static void owner_runs(void) {
  pthread_mutex_lock(&mutexes[0]);
  start(lock_once, &mutexes[0]);
}

// The owner has ended, but any process may release the mutex.
static void shared_mutex(void) {
  static pthread_mutex_t shared;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared, &attributes);
  pthread_t t;
  NEED(pthread_create(&t, NULL, lock_once, &shared) == 0);
  NEED(pthread_join(t, NULL) == 0);
  start(lock_once, &shared);
}

static const struct test_case {
  const char *name;
  size_t stuck; // threads
  void (*begin)(void);
} cases[] = {
    {"mutex-taken-twice", 1, mutex_taken_twice},
    {"two-rwlocks", 2, two_rwlocks},
    {"rwlock-upgrade", 1, rwlock_upgrade},
    {"rwlock-and-mutex", 2, rwlock_and_mutex},
    {"c11-mutexes", 2, two_c11_mutexes},
    {"annotated-locks", 2, two_annotated_locks},
    {"spinlocks", 2, two_spinlocks},
    {"timed-wait", 0, timed_wait},
    {"owner-runs", 0, owner_runs},
    {"shared-mutex", 0, shared_mutex},
};

static const struct test_case *find_case(const char *name) {
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    if (strcmp(cases[i].name, name) == 0)
      return &cases[i];
  return NULL;
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  const struct test_case *c = find_case(argv[1]);
  NEED(c != NULL);
  c->begin();
  static struct mprof_stack_record records[64];
  size_t n = 0;
  for (int i = 0; i < (c->stuck ? 30000 : 20); i++) {
    CHECK(mprof_thread_leak_profile(records, 64, &n) == 0 && n <= c->stuck);
    if (c->stuck != 0 && n == c->stuck)
      break;
    usleep(5000);
  }
  CHECK(n == c->stuck && mprof_write_profile("threadleak", "leak.txt", 2) == 0);
  _exit(0);
}
