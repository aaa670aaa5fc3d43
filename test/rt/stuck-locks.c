// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads in a cycle of each kind of lock are stuck, graded certain
// where the lock itself names its owner; a timed wait, a lock that may be
// released by another process, and one whose owner runs are none.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: for c in s1 w2 u1 r2 c2 l2 p2 t0 h0 S0; do \
// RUN:   %run{threadleak=1} timeout 60 ./app $c && \
// RUN:   tail -n 1 leak.txt || exit 1; done > out.txt
// RUN: FileCheck %s < out.txt
//
// CHECK: threadleak: 1 threads, 1 certain, 0 likely, 1 cycles
// CHECK: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles
// CHECK: threadleak: 1 threads, 0 certain, 1 likely, 1 cycles
// CHECK: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles
// CHECK: threadleak: 2 threads, 2 certain, 0 likely, 1 cycles
// CHECK: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles
// CHECK: threadleak: 2 threads, 0 certain, 2 likely, 1 cycles
// CHECK-COUNT-3: threadleak: 0 threads, 0 certain, 0 likely, 0 cycles

#define _GNU_SOURCE
#include <errno.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static void run(void *(*f)(void *), void *a) {
  pthread_t t;
  pthread_create(&t, 0, f, a);
  pthread_detach(t);
}
static pthread_mutex_t self = PTHREAD_MUTEX_INITIALIZER;
static void *self_lock(void *p) {
  pthread_mutex_lock(&self);
  pthread_mutex_lock(&self);
  return p;
}
static pthread_rwlock_t w1 = PTHREAD_RWLOCK_INITIALIZER,
                        w2 = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static void *writers_a(void *p) {
  pthread_rwlock_wrlock(&w1);
  pthread_barrier_wait(&both);
  pthread_rwlock_rdlock(&w2);
  return p;
}
static void *writers_b(void *p) {
  pthread_rwlock_wrlock(&w2);
  pthread_barrier_wait(&both);
  pthread_rwlock_wrlock(&w1);
  return p;
}
static pthread_rwlock_t up = PTHREAD_RWLOCK_INITIALIZER;
static void *upgrade(void *p) {
  pthread_rwlock_rdlock(&up);
  pthread_rwlock_wrlock(&up);
  return p;
}
static pthread_rwlock_t rl = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t rm = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t rb;
static void *reader(void *p) {
  pthread_rwlock_rdlock(&rl);
  pthread_barrier_wait(&rb);
  pthread_mutex_lock(&rm);
  return p;
}
static void *rwriter(void *p) {
  pthread_mutex_lock(&rm);
  pthread_barrier_wait(&rb);
  pthread_rwlock_wrlock(&rl);
  return p;
}
static mtx_t c11a, c11b;
static pthread_barrier_t cb;
static int c11x(void *p) {
  mtx_lock(&c11a);
  pthread_barrier_wait(&cb);
  mtx_lock(&c11b);
  return 0;
}
static int c11y(void *p) {
  mtx_lock(&c11b);
  pthread_barrier_wait(&cb);
  mtx_lock(&c11a);
  return 0;
}
__attribute__((mprof_lock(1))) void my_lock(volatile int *l);
__attribute__((mprof_unlock(1))) void my_unlock(volatile int *l);
__attribute__((noinline)) void my_lock(volatile int *l) {
  while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
    usleep(1000);
}
__attribute__((noinline)) void my_unlock(volatile int *l) {
  __atomic_store_n(l, 0, __ATOMIC_RELEASE);
}
static volatile int u1, u2;
static pthread_barrier_t ub;
static void *usera(void *p) {
  my_lock(&u1);
  pthread_barrier_wait(&ub);
  my_lock(&u2);
  return p;
}
static void *userb(void *p) {
  my_lock(&u2);
  pthread_barrier_wait(&ub);
  my_lock(&u1);
  return p;
}
static pthread_spinlock_t s1, s2;
static pthread_barrier_t sb;
static void *spina(void *p) {
  pthread_spin_lock(&s1);
  pthread_barrier_wait(&sb);
  pthread_spin_lock(&s2);
  return p;
}
static void *spinb(void *p) {
  pthread_spin_lock(&s2);
  pthread_barrier_wait(&sb);
  pthread_spin_lock(&s1);
  return p;
}
// --- not stuck ---
static pthread_mutex_t shared, held = PTHREAD_MUTEX_INITIALIZER,
                               t1 = PTHREAD_MUTEX_INITIALIZER,
                               t2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t tb;
static struct timespec late(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 1000;
  return t;
}
static void *timeda(void *p) {
  struct timespec l = late();
  pthread_mutex_lock(&t1);
  pthread_barrier_wait(&tb);
  pthread_mutex_timedlock(&t2, &l);
  return p;
}
static void *timedb(void *p) {
  pthread_mutex_lock(&t2);
  pthread_barrier_wait(&tb);
  pthread_mutex_lock(&t1);
  return p;
}
static void *waits_held(void *p) {
  pthread_mutex_lock(&held);
  return p;
}
static void *dies(void *p) {
  pthread_mutex_lock(p);
  return 0;
}
static void *waits_shared(void *p) {
  pthread_mutex_lock(&shared);
  return p;
}
int main(int argc, char **argv) {
  (void)argc;
  switch (argv[1][0]) {
  case 's':
    run(self_lock, 0);
    break;
  case 'w':
    pthread_barrier_init(&both, 0, 2);
    run(writers_a, 0);
    run(writers_b, 0);
    break;
  case 'u':
    run(upgrade, 0);
    break;
  case 'r':
    pthread_barrier_init(&rb, 0, 2);
    run(reader, 0);
    run(rwriter, 0);
    break;
  case 'c': {
    mtx_init(&c11a, mtx_plain);
    mtx_init(&c11b, mtx_plain);
    pthread_barrier_init(&cb, 0, 2);
    thrd_t t;
    thrd_create(&t, c11x, 0);
    thrd_create(&t, c11y, 0);
    break;
  }
  case 'l':
    pthread_barrier_init(&ub, 0, 2);
    run(usera, 0);
    run(userb, 0);
    break;
  case 'p':
    pthread_spin_init(&s1, 0);
    pthread_spin_init(&s2, 0);
    pthread_barrier_init(&sb, 0, 2);
    run(spina, 0);
    run(spinb, 0);
    break;
  case 't':
    pthread_barrier_init(&tb, 0, 2);
    run(timeda, 0);
    run(timedb, 0);
    break;
  case 'h':
    pthread_mutex_lock(&held);
    run(waits_held, 0);
    break;
  case 'S': {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, 1);
    pthread_mutex_init(&shared, &a);
    pthread_t t;
    pthread_create(&t, 0, dies, &shared);
    pthread_join(t, 0);
    run(waits_shared, 0);
    break;
  }
  }
  const size_t expected = (size_t)(argv[1][1] - '0');
  static struct mprof_stack_record r[64];
  size_t n = 0;
  for (int i = 0; i < (expected ? 2000 : 20); i++) {
    if (mprof_thread_leak_profile(r, 64, &n) != 0 || n > expected)
      return 1;
    if (expected != 0 && n == expected)
      break;
    usleep(5000);
  }
  if (n != expected || mprof_write_profile("threadleak", "leak.txt", 2) != 0)
    return 1;
  _exit(0);
}
