// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: locks and blocking calls that a program implements itself are in the
// profiles if the functions have MProf's attributes. The function with the
// attribute is the innermost frame. Waits inside these functions are not
// counted again, and an unlock without a waiter is not counted.
//
// RUN: %mprof_clang -fmprof -O0 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} %t
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} %t
// RUN: %mprof_clangxx -fmprof -x c++ -std=c++20 -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} %t

#include "waited.h"

struct lock {
  pthread_mutex_t m;
  pthread_cond_t c;
  int is_held;
};
static struct lock lock = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                           0};

OWN_CODE(inside)
MPROF_ATTR(mprof_lock(2)) static int lock_it(int how, struct lock *l) {
  pthread_mutex_lock(&l->m);
  while (l->is_held)
    pthread_cond_wait(&l->c, &l->m);
  l->is_held = how;
  pthread_mutex_unlock(&l->m);
  return 0;
}
OWN_CODE(inside)
MPROF_ATTR(mprof_unlock(1)) static void unlock_it(struct lock *l) {
  pthread_mutex_lock(&l->m);
  l->is_held = 0;
  pthread_cond_signal(&l->c);
  pthread_mutex_unlock(&l->m);
}
OWN_CODE(inside) MPROF_ATTR(mprof_blocking) static void fetch(void) {
  usleep(HOLD_MS * 1000);
}
DECLARE_CODE(inside);

#ifdef __cplusplus
struct Lock {
  struct lock inner;
  OWN_CODE(inside) MPROF_ATTR(mprof_lock(1)) void take() { // 1 is `this`
    lock_it(1, &inner);
  }
  OWN_CODE(inside) MPROF_ATTR(mprof_unlock(1)) void give() {
    unlock_it(&inner);
  }
};
static Lock cxx_lock = {
    {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}};
static void take_member(void) { cxx_lock.take(); }
OWN_CODE(wait_member) static void wait_member(void *) {
  cxx_lock.take();
  cxx_lock.give();
}
OWN_CODE(release_member) static void release_member(void) {
  cxx_lock.give();
  __asm__ volatile("" ::: "memory");
}
DECLARE_CODE(wait_member);
DECLARE_CODE(release_member);
#endif

static void take(void) { lock_it(1, &lock); }
OWN_CODE(waiter) static void waiter(void *arg) {
  (void)arg;
  lock_it(1, &lock);
  unlock_it(&lock);
}
OWN_CODE(releaser) static void release(void) {
  unlock_it(&lock);
  __asm__ volatile("" ::: "memory");
}
OWN_CODE(caller) static void caller(void) {
  fetch();
  __asm__ volatile("" ::: "memory");
}
DECLARE_CODE(waiter);
DECLARE_CODE(releaser);
DECLARE_CODE(caller);

int main(void) {
  const struct code in = CODE(inside), call = CODE(caller);
  take();
  release(); // without a waiter
  // Such a wait is visible from outside only as a thread that sleeps.
  const struct contest c = {"user lock",
                            take,
                            waiter,
                            release,
                            NULL,
                            SYS_futex,
                            (const void *)lock_it,
                            (const void *)unlock_it,
                            CODE(waiter),
                            CODE(releaser)};
  run_contest(&c, SECOND);
  if (is_waited_for(&lock))
    failures++;
#ifdef __cplusplus
  const struct contest member = {"member",
                                 take_member,
                                 wait_member,
                                 release_member,
                                 NULL,
                                 SYS_futex,
                                 "any",
                                 "any",
                                 CODE(wait_member),
                                 CODE(release_member)};
  run_contest(&member, ANYWHERE);
#endif
  double first = now();
  caller();
  check_waited(
      "blocking call", "block", waited_in(mprof_block_profile, &call, SECOND),
      (struct expected){1, (const void *)fetch, HOLD_MS / 1e3, now() - first});
  const struct expected none = {0, NULL, 0, 0};
  check_waited("inside", "block", waited_in(mprof_block_profile, &in, ANYWHERE),
               none);
  check_waited("inside", "mutex", waited_in(mprof_mutex_profile, &in, ANYWHERE),
               none);
  return failures != 0;
}
