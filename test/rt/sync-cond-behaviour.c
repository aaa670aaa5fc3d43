// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: condition variables give the same results, wake the same threads and
// leave the mutex in the same state with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %if !emulated %{ FileCheck %s --check-prefix=DEATH < plain.txt %}
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: -- normal
// CHECK: nobody signals, pthread_cond_timedwait(c, m, &past): ETIMEDOUT
// CHECK-NEXT: the mutex is held
// CHECK: nobody signals, pthread_cond_timedwait(c, m, &negative): EINVAL
// CHECK: signalled, pthread_cond_wait(c, m): 0
// CHECK-NEXT: the mutex is held
// CHECK: -- errorcheck
// CHECK: not held, pthread_cond_timedwait(c, m, &past): EPERM
// CHECK: -- robust
// CHECK: end
//
// The emulator does not tell the kernel of the robust mutexes of a thread.
// DEATH: owner died, pthread_cond_wait(c, m): EOWNERDEAD
// DEATH: given up, pthread_cond_wait(c, m): ENOTRECOVERABLE

#define _GNU_SOURCE
#include "sync-observe.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct kind {
  const char *name;
  int type, robust, protocol, shared;
};

static const struct kind kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 0},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE, 0},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_NONE, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, PTHREAD_PRIO_NONE, 0},
    {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0},
    {"shared", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 1},
    {"robust", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 0},
    {"robust shared", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 1},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct timespec past = {1, 0};
static const struct timespec negative = {4000000000, -1};
static const struct timespec too_large = {4000000000, 1000000000};

struct pair {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
};
static struct pair own;
static pthread_mutex_t *m = &own.mutex;
static pthread_cond_t *c = &own.cond;

static void make(const struct kind *k, clockid_t clock) {
  pthread_mutexattr_t ma;
  NEED(pthread_mutexattr_init(&ma) == 0);
  NEED(pthread_mutexattr_settype(&ma, k->type) == 0);
  NEED(pthread_mutexattr_setprotocol(&ma, k->protocol) == 0);
  if (k->robust)
    NEED(pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST) == 0);
  pthread_condattr_t ca;
  NEED(pthread_condattr_init(&ca) == 0);
  NEED(pthread_condattr_setclock(&ca, clock) == 0);
  if (k->shared) {
    NEED(pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED) == 0);
    NEED(pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED) == 0);
  }
  memset(m, 0, sizeof(*m));
  memset(c, 0, sizeof(*c));
  NEED(pthread_mutex_init(m, &ma) == 0);
  NEED(pthread_cond_init(c, &ca) == 0);
  pthread_mutexattr_destroy(&ma);
  pthread_condattr_destroy(&ca);
}

static void try(void *state) {
  int got = pthread_mutex_trylock(m);
  if (got == 0 || got == EOWNERDEAD)
    NEED(pthread_mutex_unlock(m) == 0);
  *(int *)state = got;
}

// Prints the state of the mutex as another thread sees it.
static void say_mutex(void) {
  int state;
  elsewhere(try, &state);
  say("the mutex is %s",
      state == 0 ? "free" : (state == EBUSY ? "held" : error_name(state)));
}

static void lock(void) { NEED(pthread_mutex_lock(m) == 0); }
static void unlock(void) { NEED(pthread_mutex_unlock(m) == 0); }

// Functions that wait. The text in `who`, which they print, says why they
// should return.

static void wait_for_ever(void *who) { SHOW_AS(who, pthread_cond_wait(c, m)); }
static void wait_long(void *who) {
  struct timespec late = after(20000);
  SHOW_AS(who, pthread_cond_timedwait(c, m, &late));
}
static void wait_long_by_clock(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 20000);
  SHOW_AS(who, pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &late));
}
static void (*const ways[])(void *) = {wait_for_ever, wait_long,
                                       wait_long_by_clock};
enum { WAYS = 3 };

// Waits that return without a signal. The thread holds the mutex before.
#define FAIL(who, call)                                                        \
  do {                                                                         \
    SHOW_TEXT(who, #call, call);                                               \
    say_mutex();                                                               \
  } while (0)
static void fail_to_wait(const char *who) {
  struct timespec soon = after(10), mono = after_on(CLOCK_MONOTONIC, 10);
  FAIL(who, pthread_cond_timedwait(c, m, &past));
  FAIL(who, pthread_cond_timedwait(c, m, &soon));
  FAIL(who, pthread_cond_timedwait(c, m, &negative));
  FAIL(who, pthread_cond_timedwait(c, m, &too_large));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_REALTIME, &past));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &mono));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &negative));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_REALTIME, &too_large));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_PROCESS_CPUTIME_ID, &past));
  FAIL(who, pthread_cond_clockwait(c, m, 12345, &past));
}

struct wait {
  void (*way)(void *);
  const char *who;
};

static void wait_locked(void *arg) {
  const struct wait *w = arg;
  lock();
  w->way((void *)w->who);
  say_mutex();
  unlock();
}

// A thread waits in each way, and is woken in both ways.
static void wake(void) {
  for (int i = 0; i < WAYS; i++) {
    struct wait signalled = {ways[i], "signalled"};
    struct wait all = {ways[i], "signalled to all"};
    struct thread t;
    start_waiting(&t, wait_locked, &signalled, c, sizeof(*c));
    say_mutex();
    lock();
    SHOW(pthread_cond_signal(c));
    unlock();
    finish(&t);
    start_waiting(&t, wait_locked, &signalled, c, sizeof(*c));
    NEED(pthread_cond_signal(c) == 0);
    finish(&t);
    start_waiting(&t, wait_locked, &all, c, sizeof(*c));
    lock(); // the waiter has to wait for this lock, too
    SHOW(pthread_cond_broadcast(c));
    until_waiting(&t, m, sizeof(*m));
    unlock();
    finish(&t);
    say_mutex();
  }
}

// A signal is not stored for later waiters.
static void signal_nobody(void) {
  SHOW(pthread_cond_signal(c));
  SHOW(pthread_cond_broadcast(c));
  lock();
  struct timespec soon = after(10);
  SHOW_AS("nobody signals now", pthread_cond_timedwait(c, m, &soon));
  unlock();
}

// A signal wakes one thread, a broadcast all others.
static int woken;

static void wait_in_crowd(void *unused) {
  (void)unused;
  lock();
  NEED(pthread_cond_wait(c, m) == 0);
  woken++;
  unlock();
}

static void wait_for_woken(int n) {
  for (int now = -1; now < n; usleep(100)) {
    lock();
    now = woken;
    unlock();
  }
}

static void wake_crowd(void) {
  struct thread t[4];
  char line[200];
  woken = 0;
  for (int i = 0; i < 4; i++)
    start_waiting(&t[i], wait_in_crowd, NULL, c, sizeof(*c));
  NEED(pthread_cond_signal(c) == 0);
  wait_for_woken(1);
  int waiting = 0;
  for (int i = 0; i < 4; i++)
    waiting += is_blocked(t[i].tid, SYS_futex, c, sizeof(*c), line);
  lock();
  say("signalled once: %d woken, %d wait", woken, waiting);
  unlock();
  NEED(pthread_cond_broadcast(c) == 0);
  for (int i = 0; i < 4; i++)
    finish(&t[i]);
  say("signalled to all: %d woken", woken);
}

// Two threads take turns.
static int turn;

static void take_turns(void *arg) {
  int mine = *(int *)arg;
  for (int i = 0; i < 300; i++) {
    lock();
    while (turn % 2 != mine)
      NEED(pthread_cond_wait(c, m) == 0);
    turn++;
    NEED(pthread_cond_signal(c) == 0);
    unlock();
  }
}

static void alternate(void) {
  struct thread t[2];
  int which[2] = {0, 1};
  turn = 0;
  for (int i = 0; i < 2; i++)
    start(&t[i], take_turns, &which[i]);
  for (int i = 0; i < 2; i++)
    finish(&t[i]);
  say("%d turns", turn);
}

// A handler that runs during the wait does not end it.
static volatile int handled;
static void handle(int sig) { handled += sig == SIGUSR1; }

static void interrupt(void) {
  for (int i = 0; i < WAYS; i++) {
    struct wait w = {ways[i], "after a handler"};
    struct thread t;
    handled = 0;
    start_waiting(&t, wait_locked, &w, c, sizeof(*c));
    NEED(pthread_kill(t.id, SIGUSR1) == 0);
    while (!handled)
      usleep(100);
    until_waiting(&t, c, sizeof(*c));
    NEED(pthread_cond_signal(c) == 0);
    finish(&t);
  }
}

static void wait_not_held(const char *who) {
  SHOW_AS(who, pthread_cond_wait(c, m));
  FAIL(who, pthread_cond_timedwait(c, m, &past));
  FAIL(who, pthread_cond_timedwait(c, m, &negative));
  FAIL(who, pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &past));
}

// A recursive mutex that is held twice stays held while its owner waits.
static void wait_held_twice(void) {
  lock();
  struct timespec soon = after(10);
  SHOW_AS("held twice", pthread_cond_timedwait(c, m, &soon));
  unlock();
  say_mutex();
}

static void use(const struct kind *k) {
  say("-- %s", k->name);
  make(k, CLOCK_REALTIME);
  lock();
  fail_to_wait("nobody signals");
  if (k->type == PTHREAD_MUTEX_RECURSIVE)
    wait_held_twice();
  unlock();
  say_mutex();
  if (k->type == PTHREAD_MUTEX_ERRORCHECK || k->robust)
    wait_not_held("not held");
  wake();
  signal_nobody();
  wake_crowd();
  alternate();
  interrupt();
  SHOW(pthread_cond_destroy(c));
  SHOW(pthread_mutex_destroy(m));
}

static void use_monotonic(void) {
  say("-- monotonic");
  make(&kinds[0], CLOCK_MONOTONIC);
  lock();
  struct timespec soon = after_on(CLOCK_MONOTONIC, 10);
  FAIL("nobody signals", pthread_cond_timedwait(c, m, &soon));
  FAIL("nobody signals", pthread_cond_timedwait(c, m, &past));
  FAIL("nobody signals", pthread_cond_timedwait(c, m, &negative));
  FAIL("nobody signals", pthread_cond_clockwait(c, m, CLOCK_REALTIME, &past));
  unlock();
}

// The owner of the mutex ends while a thread waits for the signal. The wait
// returns an error.
static void die(void *unused) {
  (void)unused;
  lock();
  NEED(pthread_cond_signal(c) == 0);
}

static void wait_and_mend(void *arg) {
  const struct wait *w = arg;
  lock();
  w->way((void *)w->who);
  say_mutex();
  SHOW_AS(w->who, pthread_mutex_consistent(m));
  SHOW_AS(w->who, pthread_mutex_unlock(m));
  say_mutex();
}

static void wait_and_find_lost(void *arg) {
  const struct wait *w = arg;
  lock();
  w->way((void *)w->who);
  SHOW_AS(w->who, pthread_mutex_unlock(m));
  SHOW_AS(w->who, pthread_mutex_lock(m));
}

static void lose_owner(const struct kind *k) {
  for (int i = 0; i < WAYS; i++) {
    struct wait w = {ways[i], "owner died"};
    struct thread t;
    make(k, CLOCK_REALTIME);
    start_waiting(&t, wait_and_mend, &w, c, sizeof(*c));
    elsewhere(die, NULL);
    finish(&t);
  }
}

// Another thread learns first that the owner has ended, and unlocks the mutex
// without repairing it.
static void lock_and_die(void *unused) {
  (void)unused;
  lock();
}

static void lose_mutex(const struct kind *k) {
  for (int i = 0; i < WAYS; i++) {
    struct wait w = {ways[i], "given up"};
    struct thread t;
    make(k, CLOCK_REALTIME);
    start_waiting(&t, wait_and_find_lost, &w, c, sizeof(*c));
    elsewhere(lock_and_die, NULL);
    SHOW(pthread_mutex_lock(m));
    SHOW(pthread_mutex_unlock(m));
    NEED(pthread_cond_signal(c) == 0);
    finish(&t);
  }
}

// The waiter is in a child process.
static void share(void) {
  say("-- processes");
  struct pair *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  NEED(shared != MAP_FAILED);
  m = &shared->mutex;
  c = &shared->cond;
  make(&(struct kind){"", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 1},
       CLOCK_REALTIME);
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    lock();
    SHOW_AS("child", pthread_cond_wait(c, m));
    unlock();
    _exit(0);
  }
  until_blocked(pid, SYS_futex, c, sizeof(*c));
  NEED(pthread_cond_signal(c) == 0);
  int status;
  NEED(waitpid(pid, &status, 0) == pid && status == 0);
  SHOW(pthread_cond_destroy(c));
}

int main(void) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
  for (size_t i = 0; i < KINDS; i++) {
    use(&kinds[i]);
    if (kinds[i].robust && !is_emulated()) {
      lose_owner(&kinds[i]);
      lose_mutex(&kinds[i]);
    }
  }
  use_monotonic();
  share();
  say("end");
  return 0;
}
