// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mutexes of every kind give the same result for every call, and leave
// errno alone, with and without MProf.
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
// CHECK: free, pthread_mutex_timedlock(m, &negative): 0
// CHECK: free, pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &late): EINVAL
// CHECK: held, pthread_mutex_trylock(m): EBUSY
// CHECK: held, pthread_mutex_timedlock(m, &past): ETIMEDOUT
// CHECK: held, pthread_mutex_timedlock(m, &negative): EINVAL
// CHECK: counted by all: 8000
// CHECK: -- recursive
// CHECK: relocked, pthread_mutex_lock(m): 0
// CHECK: -- errorcheck
// CHECK: relocked, pthread_mutex_lock(m): EDEADLK
// CHECK: not the owner's, pthread_mutex_unlock(m): EPERM
// CHECK: -- processes, shared
// CHECK: end
//
// The emulator does not tell the kernel of the robust mutexes of a thread.
// DEATH: -- dead owner, robust
// DEATH: owner died, pthread_mutex_lock(m): EOWNERDEAD
// DEATH: not mended, pthread_mutex_lock(m): ENOTRECOVERABLE
// DEATH: waited for the dead, pthread_mutex_lock(m): EOWNERDEAD
// DEATH: holder was killed, pthread_mutex_lock(shared): EOWNERDEAD

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
    {"shared", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 1},
    {"shared recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE, 1},
    {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0},
    {"inheriting recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT,
     0},
    {"inheriting errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_INHERIT,
     0},
    {"protecting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_PROTECT, 0},
    {"protecting errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_PROTECT,
     0},
    {"robust", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 0},
    {"robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_NONE, 0},
    {"robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, PTHREAD_PRIO_NONE, 0},
    {"robust shared", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 1},
    {"robust inheriting", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_INHERIT, 0},
    {"robust inheriting recursive", PTHREAD_MUTEX_RECURSIVE, 1,
     PTHREAD_PRIO_INHERIT, 0},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct timespec past = {1, 0};
static const struct timespec negative = {4000000000, -1};
static const struct timespec too_large = {4000000000, 1000000000};

static pthread_mutex_t the_mutex;
static pthread_mutex_t *const m = &the_mutex;

static void make(pthread_mutex_t *mutex, const struct kind *k) {
  pthread_mutexattr_t a;
  NEED(pthread_mutexattr_init(&a) == 0);
  NEED(pthread_mutexattr_settype(&a, k->type) == 0);
  NEED(pthread_mutexattr_setprotocol(&a, k->protocol) == 0);
  if (k->robust)
    NEED(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0);
  if (k->shared)
    NEED(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  memset(mutex, 0, sizeof(*mutex));
  NEED(pthread_mutex_init(mutex, &a) == 0);
  pthread_mutexattr_destroy(&a);
}

// Functions of threads. Their argument is printed before each line.

static void lock(void *who) { SHOW_AS(who, pthread_mutex_lock(m)); }
static void try(void *who) { SHOW_AS(who, pthread_mutex_trylock(m)); }
static void timed(void *who) {
  struct timespec late = after(20000);
  SHOW_AS(who, pthread_mutex_timedlock(m, &late));
}
static void clocked(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 20000);
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &late));
}
static void clocked_realtime(void *who) {
  struct timespec late = after(20000);
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_REALTIME, &late));
}
static void unlock(void *who) { SHOW_AS(who, pthread_mutex_unlock(m)); }

static void (*const ways[])(void *) = {lock, try, timed, clocked,
                                       clocked_realtime};
enum { WAYS = 5 };

static void try_and_unlock(void *who) { try(who), unlock(who); }
static void lock_and_unlock(void *who) { lock(who), unlock(who); }
static void timed_and_unlock(void *who) { timed(who), unlock(who); }
static void clocked_and_unlock(void *who) { clocked(who), unlock(who); }

// All ways to lock that return even if the lock is not available.
static void try_all(void *who) {
  try(who);
  SHOW_AS(who, pthread_mutex_timedlock(m, &past));
  SHOW_AS(who, pthread_mutex_timedlock(m, &negative));
  SHOW_AS(who, pthread_mutex_timedlock(m, &too_large));
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_REALTIME, &past));
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_REALTIME, &negative));
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past));
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &too_large));
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &past));
  struct timespec soon = after(10);
  SHOW_AS(who, pthread_mutex_timedlock(m, &soon));
  soon = after_on(CLOCK_MONOTONIC, 10);
  SHOW_AS(who, pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &soon));
}

// Each way to lock a free mutex. Only some of these calls check the time.
#define FREE(call)                                                             \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    int got_ = (call);                                                         \
    int errno_ = errno;                                                        \
    say_result("free", #call, error_name(got_), errno_);                       \
    if (got_ == 0)                                                             \
      unlock("");                                                              \
  } while (0)
static void lock_free_one(void) {
  struct timespec late = after(20000);
  struct timespec late_monotonic = after_on(CLOCK_MONOTONIC, 20000);
  FREE(pthread_mutex_lock(m));
  FREE(pthread_mutex_trylock(m));
  FREE(pthread_mutex_timedlock(m, &late));
  FREE(pthread_mutex_timedlock(m, &past));
  FREE(pthread_mutex_timedlock(m, &negative));
  FREE(pthread_mutex_timedlock(m, &too_large));
  FREE(pthread_mutex_clocklock(m, CLOCK_REALTIME, &late));
  FREE(pthread_mutex_clocklock(m, CLOCK_REALTIME, &negative));
  FREE(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &late_monotonic));
  FREE(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past));
  FREE(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &negative));
  FREE(pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &late));
  FREE(pthread_mutex_clocklock(m, 12345, &late));
}

// Unlocks a recursive mutex as often as it was locked. Only the last unlock
// frees it for another thread.
static void unlock_all(const struct kind *k) {
  if (k->type == PTHREAD_MUTEX_RECURSIVE) {
    while (m->__data.__count > 2)
      NEED(pthread_mutex_unlock(m) == 0);
    unlock("");
    elsewhere(try, "still held");
  }
  unlock("");
  elsewhere(try_and_unlock, "given up");
}

// For each call that can wait, a thread waits for the mutex and gets it.
static void hand_over(void) {
  void (*const waits[])(void *) = {lock_and_unlock, timed_and_unlock,
                                   clocked_and_unlock};
  for (int i = 0; i < 3; i++) {
    NEED(pthread_mutex_lock(m) == 0);
    struct thread t;
    start_waiting(&t, waits[i], "waited", m, sizeof(*m));
    NEED(pthread_mutex_unlock(m) == 0);
    finish(&t);
  }
}

static void destroy_held(const struct kind *k) {
  if (k->robust) // stays in the thread's list of held mutexes
    return;
  NEED(pthread_mutex_lock(m) == 0);
  SHOW_AS("held", pthread_mutex_destroy(m));
  struct thread t;
  start_waiting(&t, lock_and_unlock, "waited", m, sizeof(*m));
  SHOW_AS("held and waited for", pthread_mutex_destroy(m));
  NEED(pthread_mutex_unlock(m) == 0);
  finish(&t);
}

static void destroy(void) {
  SHOW(pthread_mutex_destroy(m));
  for (int i = 0; i < WAYS; i++)
    ways[i]("destroyed");
  unlock("destroyed");
}

static pthread_mutex_t counted_by_all;
static long count;

static void add(void *unused) {
  (void)unused;
  for (int i = 0; i < 2000; i++) {
    NEED(pthread_mutex_lock(&counted_by_all) == 0);
    count++;
    NEED(pthread_mutex_unlock(&counted_by_all) == 0);
  }
}

static void exclude_each_other(const struct kind *k) {
  make(&counted_by_all, k);
  count = 0;
  struct thread t[4];
  for (int i = 0; i < 4; i++)
    start(&t[i], add, NULL);
  for (int i = 0; i < 4; i++)
    finish(&t[i]);
  say("counted by all: %ld", count);
}

// Returns whether mutexes of this kind store their owner, so that no other
// thread can unlock them.
static int knows_owner(const struct kind *k) {
  return k->robust || k->type == PTHREAD_MUTEX_RECURSIVE ||
         k->type == PTHREAD_MUTEX_ERRORCHECK;
}

static void use(const struct kind *k) {
  say("-- %s", k->name);
  make(m, k);
  lock_free_one();
  lock("");
  elsewhere(try_all, "held");
  if (k->type == PTHREAD_MUTEX_RECURSIVE || k->type == PTHREAD_MUTEX_ERRORCHECK)
    lock("relocked");
  try_all("relocked");
  if (knows_owner(k))
    elsewhere(unlock, "not the owner's");
  unlock_all(k);
  if (knows_owner(k))
    unlock("not held");
  hand_over();
  destroy_held(k);
  destroy();
  exclude_each_other(k);
}

// A mutex with priority protection refuses a thread without a priority, unless
// the thread may be given one. It is then tested with such threads.
static void use_by_priority(void *kind) {
  const struct sched_param lowest = {.sched_priority = 1};
  int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
  if (error == 0)
    use(kind);
  else
    say("no right to a priority: %s", error_name(error));
}

static void use_with_priority(struct kind k) {
  say("-- %s, no priority", k.name);
  make(m, &k);
  for (int i = 0; i < WAYS; i++)
    elsewhere(ways[i], "first call of a thread");
  SHOW(pthread_mutex_destroy(m));
  elsewhere(use_by_priority, &k);
}

// The owner of a robust mutex ends. Each call that locks the mutex then returns
// EOWNERDEAD. If the mutex is unlocked without pthread_mutex_consistent, no
// thread can get it any more.
static void lock_after_death(const struct kind *k) {
  for (int i = 0; i < WAYS; i++) {
    make(m, k);
    elsewhere(lock, "to die");
    ways[i]("owner died");
    SHOW(pthread_mutex_consistent(m));
    unlock("");
    for (int j = 0; j < WAYS; j++) {
      elsewhere(try_and_unlock, "mended");
      ways[j]("mended");
      unlock("mended");
    }
    SHOW(pthread_mutex_destroy(m));

    make(m, k);
    elsewhere(lock, "to die");
    ways[i]("owner died");
    unlock("");
    for (int j = 0; j < WAYS; j++) {
      if (ways[j] == try) // glibc 2.36 then leaves the mutex locked
        continue;
      elsewhere(lock_and_unlock, "not mended");
      ways[j]("not mended");
      unlock("not mended");
    }
    SHOW_AS("not mended", pthread_mutex_consistent(m));
    try("not mended");
    elsewhere(try, "not mended");
    SHOW(pthread_mutex_destroy(m));
  }
}

// The owner ends while another thread waits.
static pthread_mutex_t stay = PTHREAD_MUTEX_INITIALIZER;
static int holding;

static void hold_until_told(void *unused) {
  (void)unused;
  NEED(pthread_mutex_lock(m) == 0);
  __atomic_store_n(&holding, 1, __ATOMIC_RELEASE);
  NEED(pthread_mutex_lock(&stay) == 0);
  NEED(pthread_mutex_unlock(&stay) == 0);
}

static void mend_and_unlock(void *who) {
  SHOW_AS(who, pthread_mutex_consistent(m));
  unlock(who);
}
static void lock_and_mend(void *who) { lock(who), mend_and_unlock(who); }
static void timed_and_mend(void *who) { timed(who), mend_and_unlock(who); }
static void clocked_and_mend(void *who) { clocked(who), mend_and_unlock(who); }
static void lock_and_leave(void *who) { lock(who), unlock(who), lock(who); }

static void die_with_waiter(const struct kind *k) {
  void (*const waits[])(void *) = {lock_and_mend, timed_and_mend,
                                   clocked_and_mend, lock_and_leave};
  for (int i = 0; i < 4; i++) {
    make(m, k);
    NEED(pthread_mutex_lock(&stay) == 0);
    __atomic_store_n(&holding, 0, __ATOMIC_RELEASE);
    struct thread holder, waiter;
    start(&holder, hold_until_told, NULL);
    while (!__atomic_load_n(&holding, __ATOMIC_ACQUIRE))
      usleep(100);
    start_waiting(&waiter, waits[i], "waited for the dead", m, sizeof(*m));
    NEED(pthread_mutex_unlock(&stay) == 0);
    finish(&holder);
    finish(&waiter);
  }
}

// A thread waits for the mutex. Another thread has got EOWNERDEAD and unlocks
// the mutex without making it consistent.
static void give_up_with_waiter(const struct kind *k) {
  make(m, k);
  elsewhere(lock, "to die");
  lock("owner died");
  struct thread t;
  start_waiting(&t, lock_and_unlock, "waited for one that gave up", m,
                sizeof(*m));
  NEED(pthread_mutex_unlock(m) == 0);
  finish(&t);
}

static void die(const struct kind *k) {
  say("-- dead owner, %s", k->name);
  make(m, k);
  SHOW_AS("nobody died", pthread_mutex_consistent(m));
  elsewhere(lock, "to die");
  lock("owner died");
  if (k->type == PTHREAD_MUTEX_RECURSIVE)
    lock("again");
  SHOW(pthread_mutex_consistent(m));
  elsewhere(try, "held");
  unlock("");
  if (k->type == PTHREAD_MUTEX_RECURSIVE)
    unlock("again");
  unlock("not held");
  elsewhere(try_and_unlock, "given up");
  lock_after_death(k);
  die_with_waiter(k);
  give_up_with_waiter(k);
}

// The mutex is in memory that two processes share. The child holds it.
static void hold_in_child(const struct kind *k, pthread_mutex_t *shared) {
  say("-- processes, %s", k->name);
  make(shared, k);
  int ready[2], go[2];
  char c;
  NEED(pipe(ready) == 0 && pipe(go) == 0);
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    NEED(pthread_mutex_lock(shared) == 0);
    NEED(write(ready[1], "", 1) == 1);
    if (k->robust)
      pause(); // until it is killed
    NEED(read(go[0], &c, 1) == 1);
    until_blocked(getppid(), SYS_futex, shared, sizeof(*shared));
    NEED(pthread_mutex_unlock(shared) == 0);
    _exit(0);
  }
  NEED(read(ready[0], &c, 1) == 1);
  SHOW_AS("held by a child", pthread_mutex_trylock(shared));
  SHOW_AS("held by a child", pthread_mutex_timedlock(shared, &past));
  int status;
  if (k->robust) {
    NEED(kill(pid, SIGKILL) == 0);
    NEED(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    SHOW_AS("holder was killed", pthread_mutex_lock(shared));
    SHOW(pthread_mutex_consistent(shared));
  } else {
    NEED(write(go[1], "", 1) == 1);
    SHOW_AS("given up by a child", pthread_mutex_lock(shared));
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
  }
  SHOW(pthread_mutex_unlock(shared));
  SHOW(pthread_mutex_destroy(shared));
  close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
}

static void share(void) {
  pthread_mutex_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  NEED(shared != MAP_FAILED);
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].shared && !(kinds[i].robust && is_emulated()))
      hold_in_child(&kinds[i], shared);
}

static void use_initializers(void) {
  static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER,
                         recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                         errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                         adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  say("-- static");
  SHOW(pthread_mutex_lock(&normal));
  SHOW(pthread_mutex_trylock(&normal));
  SHOW(pthread_mutex_unlock(&normal));
  SHOW(pthread_mutex_lock(&recursive));
  SHOW(pthread_mutex_trylock(&recursive));
  SHOW(pthread_mutex_unlock(&recursive));
  SHOW(pthread_mutex_unlock(&recursive));
  SHOW(pthread_mutex_unlock(&recursive));
  SHOW(pthread_mutex_lock(&errorcheck));
  SHOW(pthread_mutex_lock(&errorcheck));
  SHOW(pthread_mutex_unlock(&errorcheck));
  SHOW(pthread_mutex_unlock(&errorcheck));
  SHOW(pthread_mutex_lock(&adaptive));
  SHOW(pthread_mutex_trylock(&adaptive));
  SHOW(pthread_mutex_unlock(&adaptive));
}

int main(void) {
  use_initializers();
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].protocol == PTHREAD_PRIO_PROTECT)
      use_with_priority(kinds[i]);
    else
      use(&kinds[i]);
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].robust && !is_emulated())
      die(&kinds[i]);
  share();
  say("end");
  return 0;
}
