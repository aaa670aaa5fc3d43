// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each cycle of 2 to 5 locks is reported once, for each kind of lock
// and with mixed kinds, although no thread ever waits. The steps of a cycle run
// in one thread, or in one thread each.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for lib in %stdlibs; do \
// RUN:   %mprof_clangxx -fmprof -std=c++17 -O1 -g1 -stdlib=$lib %s -o app && \
// RUN:   %run_quiet{lock_order=1} timeout 300 ./app $lib.txt > $lib.wanted && \
// RUN:   sed -n 's/^Cycle [0-9]* of [0-9]*: //p' $lib.txt | sort > $lib.got && \
// RUN:   sort $lib.wanted | diff - $lib.got && \
// RUN:   test $(grep -c '^  and then' $lib.txt) = 344 || exit 1; done
// RUN: FileCheck %s < libstdc++.txt
//
// CHECK: Total:     100 cycles
// CHECK: SUMMARY: MProf: lockorder: 100 cycles

#include <mprof/mprof.h>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <stdio.h>
#include <stdlib.h>
#include <thread>
#include <threads.h>

static void need(bool is_right) {
  if (!is_right)
    abort();
}

struct posix {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  void lock() { pthread_mutex_lock(&m); }
  void unlock() { pthread_mutex_unlock(&m); }
};
struct recursive {
  pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  void lock() {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
  }
  void unlock() {
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
  }
};
struct writer {
  pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;
  void lock() { pthread_rwlock_wrlock(&m); }
  void unlock() { pthread_rwlock_unlock(&m); }
};
struct spin {
  pthread_spinlock_t m;
  spin() { pthread_spin_init(&m, PTHREAD_PROCESS_PRIVATE); }
  void lock() { pthread_spin_lock(&m); }
  void unlock() { pthread_spin_unlock(&m); }
};
struct c11 {
  mtx_t m;
  c11() { mtx_init(&m, mtx_plain); }
  void lock() { mtx_lock(&m); }
  void unlock() { mtx_unlock(&m); }
};
struct own {
  int is_held = 0;
};
__attribute__((mprof_lock(1), noinline)) void acquire(own *l) {
  while (__atomic_exchange_n(&l->is_held, 1, __ATOMIC_ACQUIRE))
    ;
}
__attribute__((mprof_unlock(1), noinline)) void release(own *l) {
  __atomic_store_n(&l->is_held, 0, __ATOMIC_RELEASE);
}
struct user {
  own m;
  void lock() { acquire(&m); }
  void unlock() { release(&m); }
};
// Every second reader meets a writer, so each thread of a cycle can wait.
struct readers_and_writers {
  pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;
  void lock() { pthread_rwlock_wrlock(&m); }
  void unlock() { pthread_rwlock_unlock(&m); }
  void lock_first() { pthread_rwlock_rdlock(&m); }
};
// Waiting writers go first, so readers can wait for readers.
struct fair_readers {
  pthread_rwlock_t m = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  void lock() { pthread_rwlock_rdlock(&m); }
  void unlock() { pthread_rwlock_unlock(&m); }
};

template <class L> auto lock_first(L &l) -> decltype(l.lock_first()) {
  l.lock_first();
}
template <class L, class... None> void lock_first(L &l, None...) { l.lock(); }

template <class A, class B> void step(A &a, B &b) {
  lock_first(a);
  b.lock();
  b.unlock();
  a.unlock();
}

template <class L, int N, bool HasThreads>
__attribute__((noinline)) void cycle() {
  static L locks[N];
  for (int i = 0; i < N; i++)
    if (HasThreads)
      std::thread([i] { step(locks[i], locks[(i + 1) % N]); }).join();
    else
      step(locks[i], locks[(i + 1) % N]);
  printf("%d locks\n", N);
}

template <class L> void cycles() {
  cycle<L, 2, false>();
  cycle<L, 3, false>();
  cycle<L, 4, false>();
  cycle<L, 5, false>();
  cycle<L, 2, true>();
  cycle<L, 3, true>();
  cycle<L, 4, true>();
  cycle<L, 5, true>();
}

struct timed_first {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  void lock() { pthread_mutex_lock(&m); }
  void unlock() { pthread_mutex_unlock(&m); }
  void lock_first() { need(pthread_mutex_trylock(&m) == 0); }
};

// Every kind in the same cycle.
struct mixed {
  int kind;
  posix p;
  std::mutex s;
  writer w;
  spin x;
  user u;
  mixed() {
    static int number;
    kind = number++ % 5;
  }
  void lock() {
    kind == 0   ? p.lock()
    : kind == 1 ? s.lock()
    : kind == 2 ? w.lock()
    : kind == 3 ? x.lock()
                : u.lock();
  }
  void unlock() {
    kind == 0   ? p.unlock()
    : kind == 1 ? s.unlock()
    : kind == 2 ? w.unlock()
    : kind == 3 ? x.unlock()
                : u.unlock();
  }
};

// --- cycles that look harmless ---

static void nested(pthread_mutex_t *a, pthread_mutex_t *b) {
  pthread_mutex_lock(a);
  pthread_mutex_lock(b);
  pthread_mutex_unlock(b);
  pthread_mutex_unlock(a);
}

// The wait for a condition takes its mutex again, while it holds the other one.
static void condition() {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = m;
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  const timespec past = {0, 0};
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&other);
  pthread_cond_timedwait(&c, &m, &past);
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&m);
  puts("2 locks");
}

// Two readers hold the gate at the same time.
static void gate_of_readers() {
  static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = a;
  pthread_rwlock_rdlock(&gate);
  nested(&a, &b);
  nested(&b, &a);
  pthread_rwlock_unlock(&gate);
  puts("2 locks");
}

// The threads hold the gate only at first.
static void gate_left() {
  static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = gate, b = gate;
  pthread_mutex_lock(&gate);
  nested(&a, &b);
  nested(&b, &a);
  pthread_mutex_unlock(&gate);
  nested(&a, &b);
  nested(&b, &a);
  puts("2 locks");
}

// Each thread tries its first lock, and then waits.
static void holds_by_try() {
  static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = a;
  for (int i = 0; i < 2; i++) {
    need(pthread_mutex_trylock(i ? &a : &b) == 0);
    pthread_mutex_lock(i ? &b : &a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
  }
  puts("2 locks");
}

int main(int argc, char **argv) {
  need(argc == 2);
  condition();
  gate_of_readers();
  gate_left();
  holds_by_try();
  cycles<posix>();
  cycles<recursive>();
  cycles<writer>();
  cycles<spin>();
  cycles<c11>();
  cycles<user>();
  cycles<std::mutex>();
  cycles<std::shared_mutex>();
  cycles<readers_and_writers>();
  cycles<fair_readers>();
  cycles<timed_first>();
  cycles<mixed>();
  need(mprof_write_profile("lockorder", argv[1], 2) == 0);
  return 0;
}
