// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: semaphores, barriers, joins, pthread_once and spin locks give the
// same results, and set errno only where they should, with and without MProf.
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
// CHECK: -- semaphores
// CHECK: free, sem_wait(s): 0
// CHECK-NEXT: free, sem_trywait(s): -1, errno EAGAIN
// CHECK: sem_timedwait(s, &past): -1, errno ETIMEDOUT
// CHECK: sem_timedwait(s, &negative): -1, errno EINVAL
// CHECK: interrupted, sem_wait(s): -1, errno EINTR
// CHECK: sem_post(s): -1, errno EOVERFLOW
// CHECK: -- barriers
// CHECK: 5 rounds of 4 threads: 15 returned 0, 5 the serial number
// CHECK: -- joins
// CHECK: pthread_join(pthread_self(), NULL): EDEADLK
// CHECK: pthread_tryjoin_np(t, &value): EBUSY
// CHECK: pthread_join(t, NULL): EINVAL
// CHECK: -- once
// CHECK: ran 1 times
// CHECK: -- spin locks
// CHECK: pthread_spin_trylock(&spin): EBUSY
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const struct timespec past = {1, 0};
static const struct timespec negative = {4000000000, -1};
static const struct timespec too_large = {4000000000, 1000000000};

static sem_t own;
static sem_t *s = &own;

static void say_value(void) {
  int value = -1;
  NEED(sem_getvalue(s, &value) == 0);
  say("value %d", value);
}

static void wait_for_ever(void *who) { SHOW_NUMBER_AS(who, sem_wait(s)); }
static void wait_long(void *who) {
  struct timespec late = after(20000);
  SHOW_NUMBER_AS(who, sem_timedwait(s, &late));
}
static void wait_long_by_clock(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 20000);
  SHOW_NUMBER_AS(who, sem_clockwait(s, CLOCK_MONOTONIC, &late));
}
static void (*const ways[])(void *) = {wait_for_ever, wait_long,
                                       wait_long_by_clock};
enum { WAYS = 3 };

static void fail_to_wait(void) {
  struct timespec soon = after(10), mono = after_on(CLOCK_MONOTONIC, 10);
  SHOW_NUMBER(sem_trywait(s));
  SHOW_NUMBER(sem_timedwait(s, &past));
  SHOW_NUMBER(sem_timedwait(s, &negative));
  SHOW_NUMBER(sem_timedwait(s, &too_large));
  SHOW_NUMBER(sem_timedwait(s, &soon));
  SHOW_NUMBER(sem_clockwait(s, CLOCK_REALTIME, &past));
  SHOW_NUMBER(sem_clockwait(s, CLOCK_MONOTONIC, &negative));
  SHOW_NUMBER(sem_clockwait(s, CLOCK_MONOTONIC, &mono));
  SHOW_NUMBER(sem_clockwait(s, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW_NUMBER(sem_clockwait(s, 12345, &past));
}

static volatile int handled;
static void handle(int sig) { handled += sig == SIGUSR1; }

static void handle_with(int flags) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  sa.sa_flags = flags;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
}

// A handler ends the wait, unless the call is restarted.
static void interrupt(void) {
  for (int i = 0; i < WAYS; i++) {
    struct thread t;
    handle_with(0);
    start_waiting(&t, ways[i], "interrupted", s, sizeof(*s));
    NEED(pthread_kill(t.id, SIGUSR1) == 0);
    finish(&t);
  }
  struct thread t;
  handle_with(SA_RESTART);
  handled = 0;
  start_waiting(&t, wait_for_ever, "started again", s, sizeof(*s));
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  while (!handled)
    usleep(100);
  until_waiting(&t, s, sizeof(*s));
  NEED(sem_post(s) == 0);
  finish(&t);
  say_value();
}

static void post_from_handler(int sig) {
  (void)sig;
  if (sem_post(s) != 0)
    _exit(1);
}

// Posting a semaphore is the only operation on a lock that a handler may do.
static void post_in_handler(void) {
  struct thread t;
  NEED(signal(SIGUSR2, post_from_handler) != SIG_ERR);
  start_waiting(&t, wait_for_ever, "posted by a handler", s, sizeof(*s));
  NEED(raise(SIGUSR2) == 0);
  finish(&t);
}

static void take_free(void) {
  struct timespec late = after(20000), mono = after_on(CLOCK_MONOTONIC, 20000);
  for (int i = 0; i < 6; i++)
    SHOW_NUMBER(sem_post(s));
  say_value();
  SHOW_NUMBER_AS("free", sem_trywait(s));
  SHOW_NUMBER_AS("free", sem_timedwait(s, &late));
  SHOW_NUMBER_AS("free", sem_timedwait(s, &past));
  SHOW_NUMBER_AS("free", sem_timedwait(s, &negative));
  SHOW_NUMBER_AS("free", sem_timedwait(s, &too_large));
  SHOW_NUMBER_AS("free", sem_clockwait(s, CLOCK_MONOTONIC, &mono));
  SHOW_NUMBER_AS("free", sem_clockwait(s, CLOCK_MONOTONIC, &past));
  SHOW_NUMBER_AS("free", sem_clockwait(s, CLOCK_MONOTONIC, &negative));
  SHOW_NUMBER_AS("free", sem_clockwait(s, CLOCK_PROCESS_CPUTIME_ID, &late));
  say_value();
  SHOW_NUMBER_AS("free", sem_wait(s));
  SHOW_NUMBER_AS("free", sem_trywait(s));
}

static void hand_over(void) {
  for (int i = 0; i < WAYS; i++) {
    struct thread t;
    start_waiting(&t, ways[i], "waited", s, sizeof(*s));
    NEED(sem_post(s) == 0);
    finish(&t);
    say_value();
  }
}

static void overflow(void) {
  sem_t full, *s = &full;
  SHOW_NUMBER(sem_init(s, 0, SEM_VALUE_MAX));
  SHOW_NUMBER(sem_post(s));
  SHOW_NUMBER(sem_wait(s));
  SHOW_NUMBER(sem_post(s));
  SHOW_NUMBER(sem_destroy(s));
}

static void share(void) {
  sem_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  NEED(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0);
  s = shared;
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    wait_for_ever("child");
    _exit(0);
  }
  until_blocked(pid, SYS_futex, s, sizeof(*s));
  NEED(sem_post(s) == 0);
  int status;
  NEED(waitpid(pid, &status, 0) == pid && status == 0);
  SHOW_NUMBER(sem_destroy(s));
}

static void use_semaphores(void) {
  say("-- semaphores");
  SHOW_NUMBER(sem_init(s, 0, 0));
  take_free();
  fail_to_wait();
  hand_over();
  interrupt();
  post_in_handler();
  SHOW_NUMBER(sem_destroy(s));
  overflow();
  share();
}

enum { ROUNDS = 5, PARTIES = 4 };
static pthread_barrier_t barrier;
static int serial, others, wrong;

static void pass(void *unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    int got = pthread_barrier_wait(&barrier);
    if (got == PTHREAD_BARRIER_SERIAL_THREAD)
      __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    else if (got == 0)
      __atomic_fetch_add(&others, 1, __ATOMIC_RELAXED);
    else
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  }
}

static void pass_once(void *arg) {
  errno = UNTOUCHED;
  *(int *)arg = pthread_barrier_wait(&barrier);
  NEED(errno == UNTOUCHED);
}

static void use_barriers(void) {
  say("-- barriers");
  SHOW(pthread_barrier_init(&barrier, NULL, 0));
  SHOW(pthread_barrier_init(&barrier, NULL, 1));
  SHOW_NUMBER(pthread_barrier_wait(&barrier));
  SHOW_NUMBER(pthread_barrier_wait(&barrier));
  SHOW(pthread_barrier_destroy(&barrier));
  SHOW(pthread_barrier_init(&barrier, NULL, 2));
  struct thread t;
  int his;
  start_waiting(&t, pass_once, &his, &barrier, sizeof(barrier));
  int mine = pthread_barrier_wait(&barrier);
  finish(&t);
  say("2 threads: one has the serial number: %d, another 0: %d",
      (mine == PTHREAD_BARRIER_SERIAL_THREAD) +
          (his == PTHREAD_BARRIER_SERIAL_THREAD),
      (mine == 0) + (his == 0));
  SHOW(pthread_barrier_destroy(&barrier));
  SHOW(pthread_barrier_init(&barrier, NULL, PARTIES));
  struct thread all[PARTIES];
  for (int i = 0; i < PARTIES; i++)
    start(&all[i], pass, NULL);
  for (int i = 0; i < PARTIES; i++)
    finish(&all[i]);
  say("%d rounds of %d threads: %d returned 0, %d the serial number, %d other",
      ROUNDS, PARTIES, others, serial, wrong);
  SHOW(pthread_barrier_destroy(&barrier));
}

// Threads that run until a semaphore is posted, and the results of joins.
static sem_t leave, leave_detached;

static void *stay(void *arg) {
  NEED(sem_wait(&leave) == 0);
  return arg;
}
static void *stay_detached(void *arg) {
  NEED(sem_wait(&leave_detached) == 0);
  return arg;
}
static void *exit_early(void *arg) { pthread_exit(arg); }

static void *join_other(void *arg) {
  void *value;
  NEED(pthread_join(*(pthread_t *)arg, &value) == 0);
  return value;
}

static void say_joined(void *value) { say("value %ld", (long)value); }

static void fail_to_join(pthread_t t) {
  void *value = (void *)77;
  struct timespec soon = after(10), mono = after_on(CLOCK_MONOTONIC, 10);
  SHOW(pthread_tryjoin_np(t, &value));
  SHOW(pthread_timedjoin_np(t, &value, &past));
  SHOW(pthread_timedjoin_np(t, &value, &soon));
  SHOW(pthread_clockjoin_np(t, &value, CLOCK_REALTIME, &past));
  SHOW(pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &mono));
  SHOW(pthread_clockjoin_np(t, &value, CLOCK_PROCESS_CPUTIME_ID, &past));
  say_joined(value);
}

static void use_joins(void) {
  say("-- joins");
  NEED(sem_init(&leave, 0, 0) == 0 && sem_init(&leave_detached, 0, 0) == 0);
  pthread_t t, other;
  void *value;
  struct timespec late = after(20000), mono = after_on(CLOCK_MONOTONIC, 20000);

  SHOW(pthread_join(pthread_self(), NULL));
  SHOW(pthread_tryjoin_np(pthread_self(), NULL));
  SHOW(pthread_timedjoin_np(pthread_self(), NULL, &late));

  SHOW(pthread_create(&t, NULL, stay, (void *)1));
  fail_to_join(t);
  NEED(sem_post(&leave) == 0);
  SHOW(pthread_join(t, &value));
  say_joined(value);
  SHOW(pthread_create(&t, NULL, exit_early, (void *)2));
  SHOW(pthread_join(t, &value));
  say_joined(value);
  SHOW(pthread_create(&t, NULL, exit_early, (void *)3));
  SHOW(pthread_join(t, NULL));
  SHOW(pthread_create(&t, NULL, exit_early, (void *)4));
  SHOW(pthread_timedjoin_np(t, &value, &late));
  say_joined(value);
  SHOW(pthread_create(&t, NULL, exit_early, (void *)5));
  SHOW(pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &mono));
  say_joined(value);
  SHOW(pthread_create(&t, NULL, exit_early, (void *)6));
  int tried;
  while ((tried = pthread_tryjoin_np(t, &value)) == EBUSY)
    usleep(100);
  say("pthread_tryjoin_np: %s", error_name(tried));
  say_joined(value);

  // Detached threads, and a thread that another thread joins.
  SHOW(pthread_create(&t, NULL, stay_detached, NULL));
  SHOW(pthread_detach(t));
  SHOW(pthread_join(t, NULL));
  SHOW(pthread_tryjoin_np(t, NULL));
  SHOW(pthread_timedjoin_np(t, NULL, &past));
  NEED(sem_post(&leave_detached) == 0);
  SHOW(pthread_create(&t, NULL, stay, (void *)7));
  SHOW(pthread_create(&other, NULL, join_other, &t));
  NEED(sem_post(&leave) == 0);
  SHOW(pthread_join(other, &value));
  say_joined(value);

  // Attributes that a thread cannot have.
  pthread_attr_t attr;
  NEED(pthread_attr_init(&attr) == 0);
  NEED(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
  SHOW(pthread_create(&t, &attr, stay_detached, NULL));
  SHOW(pthread_join(t, NULL));
  NEED(sem_post(&leave_detached) == 0);
  NEED(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE) == 0);
  NEED(pthread_attr_setstacksize(&attr, (size_t)1 << 47) == 0);
  SHOW(pthread_create(&t, &attr, stay, NULL));
  SHOW(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN));
  SHOW(pthread_create(&t, &attr, exit_early, (void *)8));
  SHOW(pthread_join(t, &value));
  say_joined(value);
  pthread_attr_destroy(&attr);
}

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT,
                      slow = PTHREAD_ONCE_INIT;
static int ran;

static void run_inner(void) { say("inner runs"); }
static void run_outer(void) {
  say("outer runs");
  SHOW(pthread_once(&inner, run_inner));
  SHOW(pthread_once(&inner, run_inner));
}
static void run_slowly(void) {
  ran++;
  NEED(sem_wait(&leave) == 0);
}
static void once_slowly(void *arg) {
  errno = UNTOUCHED;
  *(int *)arg = pthread_once(&slow, run_slowly);
  NEED(errno == UNTOUCHED);
}

static void use_once(void) {
  say("-- once");
  SHOW(pthread_once(&outer, run_outer));
  SHOW(pthread_once(&outer, run_outer));
  // Other threads wait for the thread that runs the function.
  struct thread t[3];
  int got[3];
  start_waiting(&t[0], once_slowly, &got[0], &leave, sizeof(leave));
  for (int i = 1; i < 3; i++)
    start_waiting(&t[i], once_slowly, &got[i], &slow, sizeof(slow));
  NEED(sem_post(&leave) == 0);
  for (int i = 0; i < 3; i++) {
    finish(&t[i]);
    say("pthread_once: %s", error_name(got[i]));
  }
  say("ran %d times", ran);
}

static pthread_spinlock_t spin;
static long spun;
static int about_to_spin;

static void try_spin(void *who) { SHOW_AS(who, pthread_spin_trylock(&spin)); }
static void spin_and_unlock(void *who) {
  __atomic_store_n(&about_to_spin, 1, __ATOMIC_RELEASE);
  SHOW_AS(who, pthread_spin_lock(&spin));
  SHOW_AS(who, pthread_spin_unlock(&spin));
}
static void add(void *unused) {
  (void)unused;
  for (int i = 0; i < 1000; i++) {
    NEED(pthread_spin_lock(&spin) == 0);
    spun++;
    NEED(pthread_spin_unlock(&spin) == 0);
  }
}

static void use_spin_locks(void) {
  say("-- spin locks");
  SHOW(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
  SHOW(pthread_spin_lock(&spin));
  SHOW(pthread_spin_trylock(&spin));
  elsewhere(try_spin, "held");
  struct thread t[3];
  start(&t[0], spin_and_unlock, "waited");
  while (!__atomic_load_n(&about_to_spin, __ATOMIC_ACQUIRE))
    usleep(100);
  usleep(5000); // it spins, so its wait cannot be seen
  NEED(pthread_spin_unlock(&spin) == 0);
  finish(&t[0]);
  SHOW(pthread_spin_trylock(&spin));
  SHOW(pthread_spin_unlock(&spin));
  for (int i = 0; i < 3; i++)
    start(&t[i], add, NULL);
  for (int i = 0; i < 3; i++)
    finish(&t[i]);
  say("counted by all: %ld", spun);
  SHOW(pthread_spin_destroy(&spin));
}

int main(void) {
  use_semaphores();
  use_barriers();
  use_joins();
  use_once();
  use_spin_locks();
  say("end");
  return 0;
}
