// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: C11 mutexes, condition variables and threads give the same results
// with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: -- timed
// CHECK: held, mtx_trylock(m): thrd_busy
// CHECK: held, mtx_timedlock(m, &past): thrd_timedout
// CHECK: waited, mtx_lock(m): thrd_success
// CHECK: -- condition variables
// CHECK: cnd_timedwait(c, m, &past): thrd_timedout
// CHECK: -- threads
// CHECK: thrd_join(t, &value): thrd_success
// CHECK-NEXT: value 42
// CHECK: -- sleep
// CHECK: interrupted, thrd_sleep(&minute, &left): -1
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <signal.h>
#include <threads.h>

static const struct timespec past = {1, 0};
static const struct timespec negative = {4000000000, -1};
static const struct timespec minute = {60, 0};
static const struct timespec none = {0, 0};

static mtx_t the_mutex;
static cnd_t the_cond;
static mtx_t *const m = &the_mutex;
static cnd_t *const c = &the_cond;

static const char *result_name(int result) {
  switch (result) {
  case thrd_success:
    return "thrd_success";
  case thrd_busy:
    return "thrd_busy";
  case thrd_error:
    return "thrd_error";
  case thrd_nomem:
    return "thrd_nomem";
  case thrd_timedout:
    return "thrd_timedout";
  }
  return "another number";
}

#define SHOW_THRD_TEXT(who, text, call)                                        \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    int thrd_ = (call);                                                        \
    int errno_ = errno;                                                        \
    say_result(who, text, result_name(thrd_), errno_);                         \
  } while (0)
#define SHOW_THRD(call) SHOW_THRD_TEXT("", #call, call)
#define SHOW_THRD_AS(who, call) SHOW_THRD_TEXT(who, #call, call)

static void lock(void *who) { SHOW_THRD_AS(who, mtx_lock(m)); }
static void try(void *who) { SHOW_THRD_AS(who, mtx_trylock(m)); }
static void unlock(void *who) { SHOW_THRD_AS(who, mtx_unlock(m)); }
static void lock_and_unlock(void *who) { lock(who), unlock(who); }
static void try_and_unlock(void *who) { try(who), unlock(who); }
static void timed_and_unlock(void *who) {
  struct timespec late = after(20000);
  SHOW_THRD_AS(who, mtx_timedlock(m, &late));
  unlock(who);
}

static void try_all(void *who) {
  struct timespec soon = after(10);
  try(who);
  SHOW_THRD_AS(who, mtx_timedlock(m, &past));
  SHOW_THRD_AS(who, mtx_timedlock(m, &negative));
  SHOW_THRD_AS(who, mtx_timedlock(m, &soon));
}

static void use_mutex(const char *name, int type) {
  say("-- %s", name);
  SHOW_THRD(mtx_init(m, type));
  lock_and_unlock("free");
  try_and_unlock("free");
  timed_and_unlock("free");
  SHOW_THRD_AS("free", mtx_timedlock(m, &past));
  unlock("free");
  SHOW_THRD_AS("free", mtx_timedlock(m, &negative));
  unlock("free");
  lock("");
  elsewhere(try_all, "held");
  if (type & mtx_recursive) {
    lock("again");
    try("again");
    SHOW_THRD_AS("again", mtx_timedlock(m, &past));
    elsewhere(unlock, "not the owner's");
    unlock("again"), unlock("again"), unlock("again");
    elsewhere(try, "held once still");
  } else {
    try_all("again");
  }
  unlock("");
  if (type & mtx_recursive)
    unlock("not held");
  elsewhere(try_and_unlock, "given up");

  void (*const waits[])(void *) = {lock_and_unlock, timed_and_unlock};
  for (int i = 0; i < 2; i++) {
    struct thread t;
    NEED(mtx_lock(m) == thrd_success);
    start_waiting(&t, waits[i], "waited", m, sizeof(*m));
    NEED(mtx_unlock(m) == thrd_success);
    finish(&t);
  }
  mtx_destroy(m);
  lock("destroyed");
  try("destroyed");
  SHOW_THRD_AS("destroyed", mtx_timedlock(m, &past));
  unlock("destroyed");
}

static void wait_for_ever(void *who) {
  NEED(mtx_lock(m) == thrd_success);
  SHOW_THRD_AS(who, cnd_wait(c, m));
  NEED(mtx_unlock(m) == thrd_success);
}
static void wait_long(void *who) {
  struct timespec late = after(20000);
  NEED(mtx_lock(m) == thrd_success);
  SHOW_THRD_AS(who, cnd_timedwait(c, m, &late));
  NEED(mtx_unlock(m) == thrd_success);
}

static void use_cond(void) {
  say("-- condition variables");
  SHOW_THRD(mtx_init(m, mtx_timed));
  SHOW_THRD(cnd_init(c));
  SHOW_THRD(cnd_signal(c));
  SHOW_THRD(cnd_broadcast(c));
  struct timespec soon = after(10);
  lock("");
  SHOW_THRD(cnd_timedwait(c, m, &past));
  elsewhere(try, "after the wait");
  SHOW_THRD(cnd_timedwait(c, m, &soon));
  elsewhere(try, "after the wait");
  SHOW_THRD(cnd_timedwait(c, m, &negative));
  elsewhere(try, "after the wait");
  unlock("");
  void (*const waits[])(void *) = {wait_for_ever, wait_long};
  for (int i = 0; i < 2; i++) {
    struct thread t[2];
    start_waiting(&t[0], waits[i], "signalled", c, sizeof(*c));
    elsewhere(try_and_unlock, "while it waits");
    NEED(mtx_lock(m) == thrd_success);
    SHOW_THRD(cnd_signal(c));
    NEED(mtx_unlock(m) == thrd_success);
    finish(&t[0]);
    for (int j = 0; j < 2; j++)
      start_waiting(&t[j], waits[i], "signalled to all", c, sizeof(*c));
    NEED(cnd_broadcast(c) == thrd_success);
    finish(&t[0]), finish(&t[1]);
  }
  cnd_destroy(c);
  mtx_destroy(m);
}

static mtx_t gate;

static int return_number(void *arg) { return *(int *)arg; }
static int exit_with_number(void *arg) { thrd_exit(*(int *)arg); }
static int return_at_gate(void *arg) {
  NEED(mtx_lock(&gate) == thrd_success);
  NEED(mtx_unlock(&gate) == thrd_success);
  return *(int *)arg;
}

static void use_threads(void) {
  say("-- threads");
  thrd_t t;
  int number = 42, value = 0;
  SHOW_THRD(thrd_create(&t, return_number, &number));
  SHOW_THRD(thrd_join(t, &value));
  say("value %d", value);
  number = -7;
  SHOW_THRD(thrd_create(&t, exit_with_number, &number));
  SHOW_THRD(thrd_join(t, &value));
  say("value %d", value);
  SHOW_THRD(thrd_create(&t, return_number, &number));
  SHOW_THRD(thrd_join(t, NULL));
  // A mutex with a waiter.
  NEED(mtx_init(&gate, mtx_plain) == thrd_success);
  NEED(mtx_lock(&gate) == thrd_success);
  number = 2147483647;
  SHOW_THRD(thrd_create(&t, return_at_gate, &number));
  say("the same: %d, not the same: %d", thrd_equal(t, t) != 0,
      thrd_equal(t, thrd_current()) != 0);
  NEED(mtx_unlock(&gate) == thrd_success);
  SHOW_THRD(thrd_join(t, &value));
  say("value %d", value);
  SHOW_THRD(thrd_join(thrd_current(), NULL));
  SHOW_THRD(thrd_create(&t, return_number, &number));
  SHOW_THRD(thrd_detach(t));
  thrd_yield();
}

static once_flag flag = ONCE_FLAG_INIT, slow = ONCE_FLAG_INIT;
static int ran;
static void run(void) { ran++; }
static void run_at_gate(void) {
  ran++;
  NEED(mtx_lock(&gate) == thrd_success);
  NEED(mtx_unlock(&gate) == thrd_success);
}
static void once_at_gate(void *unused) {
  (void)unused;
  errno = UNTOUCHED;
  call_once(&slow, run_at_gate);
  NEED(errno == UNTOUCHED);
}

static void use_once(void) {
  say("-- once");
  call_once(&flag, run);
  call_once(&flag, run);
  say("ran %d times", ran);
  struct thread t[2];
  NEED(mtx_lock(&gate) == thrd_success);
  start_waiting(&t[0], once_at_gate, NULL, &gate, sizeof(gate));
  start_waiting(&t[1], once_at_gate, NULL, &slow, sizeof(slow));
  NEED(mtx_unlock(&gate) == thrd_success);
  finish(&t[0]), finish(&t[1]);
  say("ran %d times", ran);
}

static void handle(int sig) { (void)sig; }

static void sleep_long(void *who) {
  struct timespec left = none;
  SHOW_NUMBER_AS(who, thrd_sleep(&minute, &left));
  say("most of it is left: %d", left.tv_sec > 30 && left.tv_sec <= 60);
}
static void sleep_long_and_forget(void *who) {
  SHOW_NUMBER_AS(who, thrd_sleep(&minute, NULL));
}

static void use_sleep(void) {
  say("-- sleep");
  struct timespec ms = {0, 1000000}, left = {77, 0};
  SHOW_NUMBER(thrd_sleep(&none, NULL));
  SHOW_NUMBER(thrd_sleep(&ms, &left));
  say("left %ld", (long)left.tv_sec);
  // thrd_sleep returns -1 only for signals.
  SHOW_NUMBER(thrd_sleep(&negative, &left));
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
  void (*const sleeps[])(void *) = {sleep_long, sleep_long_and_forget};
  for (int i = 0; i < 2; i++) {
    struct thread t;
    start(&t, sleeps[i], "interrupted");
    until_blocked(t.tid, SYS_clock_nanosleep, NULL, 0);
    NEED(pthread_kill(t.id, SIGUSR1) == 0);
    finish(&t);
  }
}

int main(void) {
  use_mutex("plain", mtx_plain);
  use_mutex("timed", mtx_timed);
  use_mutex("recursive", mtx_plain | mtx_recursive);
  use_mutex("timed recursive", mtx_timed | mtx_recursive);
  SHOW_THRD(mtx_init(m, 12345));
  use_cond();
  use_threads();
  use_once();
  use_sleep();
  say("end");
  return 0;
}
