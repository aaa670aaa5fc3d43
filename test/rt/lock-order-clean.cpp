// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: no cycle of locks is reported for 52 programs that cannot deadlock,
// although most of them take the same locks in different orders.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for lib in %stdlibs; do \
// RUN:   %mprof_clangxx -fmprof -std=c++17 -O1 -g1 -stdlib=$lib %s -o app && \
// RUN:   %run_quiet{lock_order=1} timeout 300 ./app $lib.txt > $lib.out && \
// RUN:   FileCheck %s < $lib.txt && test $(wc -l < $lib.out) = 52 || exit 1; \
// RUN: done
//
// CHECK: Total:     0 cycles
// CHECK: SUMMARY: MProf: lockorder: 0 cycles

#include <condition_variable>
#include <errno.h>
#include <memory>
#include <mprof/mprof.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <thread>
#include <threads.h>
#include <unistd.h>
#include <vector>

static void need(bool is_right) {
  if (!is_right)
    abort();
}

#define MUTEX static pthread_mutex_t
#define LOCK pthread_mutex_lock
#define UNLOCK pthread_mutex_unlock
#define INIT PTHREAD_MUTEX_INITIALIZER

static void nested(pthread_mutex_t *a, pthread_mutex_t *b) {
  LOCK(a);
  LOCK(b);
  UNLOCK(b);
  UNLOCK(a);
}
static const timespec past = {0, 0};

// --- gates ---

static void gate() {
  MUTEX g = INIT, a = INIT, b = INIT;
  LOCK(&g);
  nested(&a, &b);
  nested(&b, &a);
  UNLOCK(&g);
}
static void gate_of_writers() {
  static pthread_rwlock_t g = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX a = INIT, b = INIT;
  for (int i = 0; i < 2; i++) {
    pthread_rwlock_wrlock(&g);
    nested(i ? &a : &b, i ? &b : &a);
    pthread_rwlock_unlock(&g);
  }
}
static void gate_of_reader_and_writer() {
  static pthread_rwlock_t g = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX a = INIT, b = INIT;
  pthread_rwlock_rdlock(&g);
  nested(&a, &b);
  pthread_rwlock_unlock(&g);
  pthread_rwlock_wrlock(&g);
  nested(&b, &a);
  pthread_rwlock_unlock(&g);
}
static void gate_by_try() {
  MUTEX g = INIT, a = INIT, b = INIT;
  need(pthread_mutex_trylock(&g) == 0);
  nested(&a, &b);
  UNLOCK(&g);
  LOCK(&g);
  nested(&b, &a);
  UNLOCK(&g);
}
static void gate_of_two_of_three() {
  MUTEX g = INIT, a = INIT, b = INIT, c = INIT;
  LOCK(&g);
  nested(&a, &b);
  UNLOCK(&g);
  nested(&b, &c);
  LOCK(&g);
  nested(&c, &a);
  UNLOCK(&g);
}
static void gate_between() {
  MUTEX g = INIT, a = INIT, b = INIT;
  LOCK(&a);
  LOCK(&g);
  LOCK(&b);
  UNLOCK(&b);
  UNLOCK(&g);
  UNLOCK(&a);
  MUTEX x = INIT, y = INIT; // the order of g and its neighbours has no cycle
  LOCK(&g);
  nested(&x, &y);
  nested(&y, &x);
  UNLOCK(&g);
}
static void first_lock_is_gate() {
  MUTEX a = INIT, b = INIT, c = INIT;
  LOCK(&a);
  nested(&b, &c);
  nested(&c, &b);
  UNLOCK(&a);
}
static void two_gates() {
  MUTEX g = INIT, h = INIT, a = INIT, b = INIT;
  LOCK(&g);
  LOCK(&h);
  nested(&a, &b);
  UNLOCK(&g);
  nested(&b, &a);
  UNLOCK(&h);
}

// --- orders without a cycle ---

static void same_order() {
  MUTEX a = INIT, b = INIT;
  for (int i = 0; i < 100; i++)
    nested(&a, &b);
}
static void by_address() {
  MUTEX m[8];
  for (auto &x : m)
    x = INIT;
  for (int i = 0; i < 64; i++)
    if (i / 8 < i % 8)
      nested(&m[i / 8], &m[i % 8]);
}
static void by_rank() {
  struct account {
    int rank;
    std::mutex m;
  };
  static account v[8];
  for (int i = 0; i < 8; i++)
    v[i].rank = i * 5 % 8;
  for (auto &x : v)
    for (auto &y : v)
      if (x.rank < y.rank) {
        std::lock_guard<std::mutex> outer(x.m), inner(y.m);
      }
}
static void tree() {
  MUTEX m[15];
  for (auto &x : m)
    x = INIT;
  for (int leaf = 7; leaf < 15; leaf++) {
    LOCK(&m[0]);
    LOCK(&m[(leaf - 3) / 4]);
    LOCK(&m[leaf]);
    UNLOCK(&m[leaf]);
    UNLOCK(&m[(leaf - 3) / 4]);
    UNLOCK(&m[0]);
  }
}
static void many_objects() {
  MUTEX parent = INIT;
  static std::vector<std::mutex> v(10000);
  LOCK(&parent);
  for (auto &m : v)
    std::lock_guard<std::mutex> guard(m);
  UNLOCK(&parent);
}
static void hand_over_hand() {
  MUTEX m[6];
  for (auto &x : m)
    x = INIT;
  for (int round = 0; round < 3; round++) {
    LOCK(&m[0]);
    for (int i = 1; i < 6; i++) {
      LOCK(&m[i]);
      UNLOCK(&m[i - 1]);
    }
    UNLOCK(&m[5]);
  }
}
static void released_before() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  LOCK(&b);
  UNLOCK(&b);
  LOCK(&a);
  UNLOCK(&a);
}
static void released_in_other_order() {
  MUTEX a = INIT, b = INIT, c = INIT;
  LOCK(&a);
  LOCK(&b);
  UNLOCK(&a);
  LOCK(&c);
  UNLOCK(&b);
  UNLOCK(&c);
  LOCK(&a);
  UNLOCK(&a);
}
static void locks_of_threads() {
  static thread_local std::mutex own;
  static std::mutex common;
  for (int i = 0; i < 4; i++)
    std::thread([] {
      std::lock_guard<std::mutex> outer(own), inner(common);
    }).join();
}

// --- attempts ---

static void try_and_back_off() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  LOCK(&b);
  if (pthread_mutex_trylock(&a) == 0)
    UNLOCK(&a);
  UNLOCK(&b);
}
static void failed_try() {
  MUTEX a = INIT, b = INIT;
  std::thread([] {
    LOCK(&a);
    std::thread([] {
      LOCK(&b);
      need(pthread_mutex_trylock(&a) == EBUSY);
      UNLOCK(&b);
    }).join();
    UNLOCK(&a);
  }).join();
  nested(&a, &b);
}
static void time_limit() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  LOCK(&b);
  need(pthread_mutex_timedlock(&a, &past) == 0);
  UNLOCK(&a);
  UNLOCK(&b);
}
static void timed_out() {
  MUTEX a = INIT, b = INIT;
  LOCK(&a);
  std::thread([] {
    LOCK(&b);
    need(pthread_mutex_timedlock(&a, &past) == ETIMEDOUT);
    UNLOCK(&b);
  }).join();
  LOCK(&b);
  UNLOCK(&b);
  UNLOCK(&a);
}
static void std_try() {
  static std::mutex a, b;
  {
    std::lock_guard<std::mutex> outer(a), inner(b);
  }
  std::lock_guard<std::mutex> outer(b);
  std::unique_lock<std::mutex> inner(a, std::try_to_lock);
}
static void std_lock() {
  static std::mutex a, b, c;
  for (int i = 0; i < 4; i++) {
    std::lock(a, b, c);
    a.unlock(), b.unlock(), c.unlock();
    std::lock(c, b, a);
    a.unlock(), b.unlock(), c.unlock();
  }
}
static void scoped_lock() {
  static std::mutex a, b;
  for (int i = 0; i < 100; i++) {
    std::thread other([] { std::scoped_lock both(a, b); });
    {
      std::scoped_lock both(b, a);
    }
    other.join();
  }
}
static void try_of_spin() {
  static pthread_spinlock_t a, b;
  pthread_spin_init(&a, 0);
  pthread_spin_init(&b, 0);
  pthread_spin_lock(&a);
  pthread_spin_lock(&b);
  pthread_spin_unlock(&b);
  pthread_spin_unlock(&a);
  pthread_spin_lock(&b);
  need(pthread_spin_trylock(&a) == 0);
  pthread_spin_unlock(&a);
  pthread_spin_unlock(&b);
}

// --- the same lock again ---

static void recursive() {
  static pthread_mutex_t a = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, b = INIT;
  LOCK(&a);
  LOCK(&b);
  LOCK(&a);
  UNLOCK(&a);
  UNLOCK(&b);
  UNLOCK(&a);
}
static void std_recursive() {
  static std::recursive_mutex a, b;
  std::lock_guard<std::recursive_mutex> one(a), two(b), three(a), four(b);
}
static void recursive_c11() {
  static mtx_t a, b;
  mtx_init(&a, mtx_plain | mtx_recursive);
  mtx_init(&b, mtx_plain);
  mtx_lock(&a);
  mtx_lock(&b);
  mtx_lock(&a);
  mtx_unlock(&a);
  mtx_unlock(&b);
  mtx_unlock(&a);
}
static void error_check() {
  static pthread_mutex_t a = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, b = INIT;
  LOCK(&a);
  LOCK(&b);
  need(LOCK(&a) == EDEADLK);
  UNLOCK(&b);
  UNLOCK(&a);
}

// --- readers ---

static void readers() {
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER,
                          b = PTHREAD_RWLOCK_INITIALIZER;
  for (int i = 0; i < 2; i++) {
    pthread_rwlock_rdlock(i ? &a : &b);
    pthread_rwlock_rdlock(i ? &b : &a);
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
  }
}
static void readers_of_one_lock() {
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX b = INIT;
  pthread_rwlock_rdlock(&a);
  LOCK(&b);
  UNLOCK(&b);
  pthread_rwlock_unlock(&a);
  LOCK(&b);
  pthread_rwlock_rdlock(&a);
  pthread_rwlock_unlock(&a);
  UNLOCK(&b);
}
static void reads_twice() {
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX b = INIT;
  pthread_rwlock_rdlock(&a);
  LOCK(&b);
  pthread_rwlock_rdlock(&a);
  pthread_rwlock_unlock(&a);
  UNLOCK(&b);
  pthread_rwlock_unlock(&a);
}
static void shared_in_order() {
  static std::shared_mutex a, b;
  for (int i = 0; i < 4; i++) {
    if (i & 1)
      a.lock_shared();
    else
      a.lock();
    if (i & 2)
      b.lock_shared(), b.unlock_shared();
    else
      b.lock(), b.unlock();
    if (i & 1)
      a.unlock_shared();
    else
      a.unlock();
  }
}
static void try_as_reader() {
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER,
                          b = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&a);
  pthread_rwlock_wrlock(&b);
  pthread_rwlock_unlock(&b);
  pthread_rwlock_unlock(&a);
  pthread_rwlock_wrlock(&b);
  need(pthread_rwlock_tryrdlock(&a) == 0);
  pthread_rwlock_unlock(&a);
  pthread_rwlock_unlock(&b);
}

// --- locks that end ---

static void destroyed() {
  MUTEX a, b;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_init(&a, NULL);
    pthread_mutex_init(&b, NULL);
    nested(i ? &a : &b, i ? &b : &a);
    pthread_mutex_destroy(&a);
    pthread_mutex_destroy(&b);
  }
}
static void initialized_again() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  pthread_mutex_init(&a, NULL);
  nested(&b, &a);
}
static void destroyed_and_assigned() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  pthread_mutex_destroy(&b);
  b = INIT;
  nested(&b, &a);
}
static void rwlock_destroyed() {
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX b = INIT;
  pthread_rwlock_wrlock(&a);
  LOCK(&b);
  UNLOCK(&b);
  pthread_rwlock_unlock(&a);
  pthread_rwlock_destroy(&a);
  pthread_rwlock_init(&a, NULL);
  LOCK(&b);
  pthread_rwlock_wrlock(&a);
  pthread_rwlock_unlock(&a);
  UNLOCK(&b);
}
static void spin_destroyed() {
  static pthread_spinlock_t a;
  MUTEX b = INIT;
  pthread_spin_init(&a, 0);
  pthread_spin_lock(&a);
  LOCK(&b);
  UNLOCK(&b);
  pthread_spin_unlock(&a);
  pthread_spin_destroy(&a);
  pthread_spin_init(&a, 0);
  LOCK(&b);
  pthread_spin_lock(&a);
  pthread_spin_unlock(&a);
  UNLOCK(&b);
}
static void mtx_destroyed() {
  static mtx_t a, b;
  mtx_init(&b, mtx_plain);
  for (int i = 0; i < 2; i++) {
    mtx_init(&a, mtx_plain);
    mtx_lock(i ? &a : &b);
    mtx_lock(i ? &b : &a);
    mtx_unlock(&a);
    mtx_unlock(&b);
    mtx_destroy(&a);
  }
}

// The allocator returns the block that was freed last.
static void freed_objects() {
  static std::mutex common;
  for (int i = 0; i < 4; i++) {
    auto object = std::make_unique<std::mutex>();
    std::lock_guard<std::mutex> outer(i & 1 ? common : *object);
    std::lock_guard<std::mutex> inner(i & 1 ? *object : common);
  }
}
static void freed_memory() {
  MUTEX common = INIT;
  for (int i = 0; i < 4; i++) {
    auto *m = (pthread_mutex_t *)malloc(400) + 5;
    *m = INIT;
    nested(i & 1 ? &common : m, i & 1 ? m : &common);
    free(m - 5);
  }
}

// --- conditions ---

static void condition() {
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  MUTEX outer = INIT, m = INIT;
  LOCK(&outer);
  LOCK(&m);
  need(pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT);
  UNLOCK(&m);
  UNLOCK(&outer);
}
static void condition_alone() {
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  static bool is_ready;
  MUTEX m = INIT, other = INIT;
  std::thread t([] {
    LOCK(&m);
    while (!is_ready)
      pthread_cond_wait(&c, &m);
    LOCK(&other);
    UNLOCK(&other);
    UNLOCK(&m);
  });
  LOCK(&m);
  is_ready = true;
  pthread_cond_signal(&c);
  UNLOCK(&m);
  t.join();
}
static void std_condition() {
  static std::mutex outer, m;
  static std::condition_variable c;
  std::lock_guard<std::mutex> guard(outer);
  std::unique_lock<std::mutex> lock(m);
  c.wait_for(lock, std::chrono::milliseconds(1));
}
static void condition_any() {
  static std::mutex outer;
  static std::shared_mutex m;
  static std::condition_variable_any c;
  std::lock_guard<std::mutex> guard(outer);
  std::shared_lock<std::shared_mutex> lock(m);
  c.wait_for(lock, std::chrono::milliseconds(1));
}

// --- released by other code ---

static void unlocked_unseen() {
  static int (*volatile unlock)(pthread_mutex_t *) = pthread_mutex_unlock;
  MUTEX a = INIT, b = INIT;
  LOCK(&a);
  unlock(&a);
  LOCK(&b);
  LOCK(&a);
  UNLOCK(&a);
  UNLOCK(&b);
}
static void rwlock_unlocked_unseen() {
  static int (*volatile unlock)(pthread_rwlock_t *) = pthread_rwlock_unlock;
  static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
  MUTEX b = INIT;
  for (int i = 0; i < 2; i++) {
    if (i)
      pthread_rwlock_rdlock(&a);
    else
      pthread_rwlock_wrlock(&a);
    unlock(&a);
    LOCK(&b);
    pthread_rwlock_wrlock(&a);
    pthread_rwlock_unlock(&a);
    UNLOCK(&b);
  }
}
static void by_exception() {
  static std::mutex a, b;
  try {
    std::lock_guard<std::mutex> outer(a), inner(b);
    throw 1;
  } catch (int) {
  }
  std::lock_guard<std::mutex> first(b);
}
static void in_handler() {
  static pthread_spinlock_t s;
  MUTEX a = INIT;
  pthread_spin_init(&s, 0);
  signal(SIGUSR1, [](int) {
    pthread_spin_lock(&s);
    pthread_spin_unlock(&s);
  });
  LOCK(&a);
  raise(SIGUSR1);
  UNLOCK(&a);
}
static void child() {
  MUTEX a = INIT, b = INIT;
  nested(&a, &b);
  LOCK(&a);
  const pid_t pid = fork();
  if (pid == 0) {
    UNLOCK(&a);
    LOCK(&b);
    _exit(0);
  }
  UNLOCK(&a);
  need(waitpid(pid, NULL, 0) == pid);
}
static void semaphore() {
  static sem_t s;
  MUTEX a = INIT;
  sem_init(&s, 0, 1);
  LOCK(&a);
  sem_wait(&s);
  UNLOCK(&a);
  sem_post(&s);
  sem_wait(&s);
  LOCK(&a);
  UNLOCK(&a);
  sem_post(&s);
}

// clang-format off
#define PATTERNS(X) \
  X(gate) X(gate_of_writers) X(gate_of_reader_and_writer) X(gate_by_try) \
  X(gate_of_two_of_three) X(gate_between) X(first_lock_is_gate) X(two_gates) \
  X(same_order) X(by_address) X(by_rank) X(tree) X(many_objects) \
  X(hand_over_hand) X(released_before) X(released_in_other_order) \
  X(locks_of_threads) X(try_and_back_off) X(failed_try) X(time_limit) X(timed_out) X(std_try) \
  X(std_lock) X(scoped_lock) X(try_of_spin) X(recursive) X(std_recursive) \
  X(recursive_c11) X(error_check) X(readers) X(readers_of_one_lock) \
  X(reads_twice) X(shared_in_order) X(try_as_reader) X(destroyed) \
  X(initialized_again) X(destroyed_and_assigned) X(rwlock_destroyed) \
  X(spin_destroyed) X(mtx_destroyed) X(freed_objects) X(freed_memory) \
  X(condition) X(condition_alone) X(std_condition) X(condition_any) X(unlocked_unseen) \
  X(rwlock_unlocked_unseen) X(by_exception) X(in_handler) X(child) \
  X(semaphore)
// clang-format on

int main(int argc, char **argv) {
  need(argc == 2);
#define RUN(f) f(), puts(#f);
  PATTERNS(RUN)
  need(mprof_write_profile("lockorder", argv[1], 2) == 0);
  return 0;
}
