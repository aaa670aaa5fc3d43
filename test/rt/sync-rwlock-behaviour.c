// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: read-write locks of every kind give the same result for every call,
// leave errno alone and admit the same threads, with and without MProf.
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
// CHECK: -- readers first
// CHECK: free, pthread_rwlock_timedrdlock(l, &negative): EINVAL
// CHECK: the reader's, pthread_rwlock_trywrlock(l): EBUSY
// CHECK: the writer's, pthread_rwlock_wrlock(l): EDEADLK
// CHECK: read by another, pthread_rwlock_tryrdlock(l): 0
// CHECK: written by another, pthread_rwlock_timedwrlock(l, &past): ETIMEDOUT
// CHECK: a writer waits, pthread_rwlock_tryrdlock(l): 0
// CHECK: -- writers first, not recursive
// CHECK: a writer waits, pthread_rwlock_tryrdlock(l): EBUSY
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <sys/mman.h>
#include <sys/wait.h>

struct kind {
  const char *name;
  int prefer, shared;
};

static const struct kind kinds[] = {
    {"readers first", PTHREAD_RWLOCK_PREFER_READER_NP, 0},
    {"writers first", PTHREAD_RWLOCK_PREFER_WRITER_NP, 0},
    {"writers first, not recursive",
     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0},
    {"shared", PTHREAD_RWLOCK_PREFER_READER_NP, 1},
    {"shared, writers first, not recursive",
     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct timespec past = {1, 0};
static const struct timespec negative = {4000000000, -1};
static const struct timespec too_large = {4000000000, 1000000000};

static pthread_rwlock_t the_lock;
static pthread_rwlock_t *const l = &the_lock;

static void make(pthread_rwlock_t *lock, const struct kind *k) {
  pthread_rwlockattr_t a;
  NEED(pthread_rwlockattr_init(&a) == 0);
  NEED(pthread_rwlockattr_setkind_np(&a, k->prefer) == 0);
  if (k->shared)
    NEED(pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  memset(lock, 0, sizeof(*lock));
  NEED(pthread_rwlock_init(lock, &a) == 0);
  pthread_rwlockattr_destroy(&a);
}

// Functions of threads. Their argument is printed before each line.

static void read_lock(void *who) { SHOW_AS(who, pthread_rwlock_rdlock(l)); }
static void write_lock(void *who) { SHOW_AS(who, pthread_rwlock_wrlock(l)); }
static void try_read(void *who) { SHOW_AS(who, pthread_rwlock_tryrdlock(l)); }
static void try_write(void *who) { SHOW_AS(who, pthread_rwlock_trywrlock(l)); }
static void unlock(void *who) { SHOW_AS(who, pthread_rwlock_unlock(l)); }

static void timed_read(void *who) {
  struct timespec late = after(20000);
  SHOW_AS(who, pthread_rwlock_timedrdlock(l, &late));
}
static void timed_write(void *who) {
  struct timespec late = after(20000);
  SHOW_AS(who, pthread_rwlock_timedwrlock(l, &late));
}
static void clocked_read(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 20000);
  SHOW_AS(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &late));
}
static void clocked_write(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 20000);
  SHOW_AS(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &late));
}

// Makes a call that locks l and, on success, unlocks l. l is free or, for
// readers, held by readers.
#define LOCK(who, call)                                                        \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    int got_ = (call);                                                         \
    int errno_ = errno;                                                        \
    say_result(who, #call, error_name(got_), errno_);                          \
    if (got_ == 0)                                                             \
      unlock(who);                                                             \
  } while (0)

static void read_all(void *who) {
  struct timespec late = after(20000), mono = after_on(CLOCK_MONOTONIC, 20000);
  LOCK(who, pthread_rwlock_rdlock(l));
  LOCK(who, pthread_rwlock_tryrdlock(l));
  LOCK(who, pthread_rwlock_timedrdlock(l, &late));
  LOCK(who, pthread_rwlock_timedrdlock(l, &past));
  LOCK(who, pthread_rwlock_timedrdlock(l, &negative));
  LOCK(who, pthread_rwlock_timedrdlock(l, &too_large));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, &late));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &mono));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &past));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &negative));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_PROCESS_CPUTIME_ID, &late));
  LOCK(who, pthread_rwlock_clockrdlock(l, 12345, &late));
}

static void write_all(void *who) {
  struct timespec late = after(20000), mono = after_on(CLOCK_MONOTONIC, 20000);
  LOCK(who, pthread_rwlock_wrlock(l));
  LOCK(who, pthread_rwlock_trywrlock(l));
  LOCK(who, pthread_rwlock_timedwrlock(l, &late));
  LOCK(who, pthread_rwlock_timedwrlock(l, &past));
  LOCK(who, pthread_rwlock_timedwrlock(l, &negative));
  LOCK(who, pthread_rwlock_timedwrlock(l, &too_large));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, &late));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &mono));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &past));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &negative));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &late));
  LOCK(who, pthread_rwlock_clockwrlock(l, 12345, &late));
}

// All ways to lock that return even if the lock is not available.
static void fail_to_read(void *who) {
  struct timespec soon = after(10), mono = after_on(CLOCK_MONOTONIC, 10);
  LOCK(who, pthread_rwlock_tryrdlock(l));
  LOCK(who, pthread_rwlock_timedrdlock(l, &past));
  LOCK(who, pthread_rwlock_timedrdlock(l, &negative));
  LOCK(who, pthread_rwlock_timedrdlock(l, &soon));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, &past));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &too_large));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &mono));
  LOCK(who, pthread_rwlock_clockrdlock(l, CLOCK_PROCESS_CPUTIME_ID, &past));
}

static void fail_to_write(void *who) {
  struct timespec soon = after(10), mono = after_on(CLOCK_MONOTONIC, 10);
  LOCK(who, pthread_rwlock_trywrlock(l));
  LOCK(who, pthread_rwlock_timedwrlock(l, &past));
  LOCK(who, pthread_rwlock_timedwrlock(l, &negative));
  LOCK(who, pthread_rwlock_timedwrlock(l, &soon));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, &past));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &too_large));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &mono));
  LOCK(who, pthread_rwlock_clockwrlock(l, CLOCK_PROCESS_CPUTIME_ID, &past));
}

// The thread that holds the lock, and another thread, try to lock it.
static void use_locked(void) {
  read_lock("");
  read_all("the reader's");
  fail_to_write("the reader's");
  elsewhere(read_all, "read by another");
  elsewhere(fail_to_write, "read by another");
  read_lock("twice");
  unlock("");
  elsewhere(try_write, "read once still");
  unlock("");

  write_lock("");
  fail_to_read("the writer's");
  fail_to_write("the writer's");
  read_lock("the writer's");  // EDEADLK
  write_lock("the writer's"); // EDEADLK
  elsewhere(fail_to_read, "written by another");
  elsewhere(fail_to_write, "written by another");
  unlock("");
}

// For each call that can wait, a thread waits for a writer, then for readers,
// and gets the lock.
struct wait {
  void (*lock)(void *);
  const char *who;
};

static void wait_and_unlock(void *arg) {
  const struct wait *w = arg;
  w->lock((void *)w->who);
  unlock((void *)w->who);
}

static void hand_over(void) {
  struct wait waits[] = {
      {read_lock, "waited"},    {timed_read, "waited"},
      {clocked_read, "waited"}, {write_lock, "waited"},
      {timed_write, "waited"},  {clocked_write, "waited"},
  };
  for (int i = 0; i < 6; i++) {
    struct thread t;
    NEED(pthread_rwlock_wrlock(l) == 0);
    start_waiting(&t, wait_and_unlock, &waits[i], l, sizeof(*l));
    NEED(pthread_rwlock_unlock(l) == 0);
    finish(&t);
    if (i < 3)
      continue;
    NEED(pthread_rwlock_rdlock(l) == 0);
    NEED(pthread_rwlock_rdlock(l) == 0);
    start_waiting(&t, wait_and_unlock, &waits[i], l, sizeof(*l));
    NEED(pthread_rwlock_unlock(l) == 0);
    until_waiting(&t, l, sizeof(*l)); // waits for the other reader
    NEED(pthread_rwlock_unlock(l) == 0);
    finish(&t);
  }
}

// Shows whether readers overtake a waiting writer.
static void overtake(const struct kind *k) {
  struct thread t;
  struct wait w = {write_lock, "overtaken"};
  NEED(pthread_rwlock_rdlock(l) == 0);
  start_waiting(&t, wait_and_unlock, &w, l, sizeof(*l));
  elsewhere(fail_to_read, "a writer waits");
  if (k->prefer == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
    fail_to_read("a writer waits, the reader's");
  else
    read_all("a writer waits, the reader's");
  elsewhere(fail_to_write, "a writer waits");
  NEED(pthread_rwlock_unlock(l) == 0);
  finish(&t);
}

// All readers that waited for a writer then read at the same time.
static pthread_barrier_t all_read;

static void read_together(void *unused) {
  (void)unused;
  NEED(pthread_rwlock_rdlock(l) == 0);
  pthread_barrier_wait(&all_read);
  NEED(pthread_rwlock_unlock(l) == 0);
}

static void wake_readers(void) {
  struct thread t[3];
  NEED(pthread_barrier_init(&all_read, NULL, 3) == 0);
  NEED(pthread_rwlock_wrlock(l) == 0);
  for (int i = 0; i < 3; i++)
    start_waiting(&t[i], read_together, NULL, l, sizeof(*l));
  NEED(pthread_rwlock_unlock(l) == 0);
  for (int i = 0; i < 3; i++)
    finish(&t[i]);
  say("all readers read at once");
  NEED(pthread_barrier_destroy(&all_read) == 0);
}

static long count, seen;

static void add(void *unused) {
  (void)unused;
  for (int i = 0; i < 2000; i++) {
    if (i % 4 == 0) {
      NEED(pthread_rwlock_wrlock(l) == 0);
      count++;
    } else {
      NEED(pthread_rwlock_rdlock(l) == 0);
      __atomic_fetch_add(&seen, count >= i / 4, __ATOMIC_RELAXED);
    }
    NEED(pthread_rwlock_unlock(l) == 0);
  }
}

static void exclude_each_other(void) {
  struct thread t[4];
  count = seen = 0;
  for (int i = 0; i < 4; i++)
    start(&t[i], add, NULL);
  for (int i = 0; i < 4; i++)
    finish(&t[i]);
  say("counted by all: %ld, seen: %ld", count, seen);
}

// One unlock too many is not noticed, and the lock is damaged.
static void unlock_unlocked(const struct kind *k) {
  make(l, k);
  unlock("not held");
  try_read("not held");
  try_write("not held");
  make(l, k);
  elsewhere(write_lock, "of a thread that ended");
  try_read("of a thread that ended");
  try_write("of a thread that ended");
}

static void use(const struct kind *k) {
  say("-- %s", k->name);
  make(l, k);
  read_all("free");
  write_all("free");
  use_locked();
  hand_over();
  overtake(k);
  wake_readers();
  exclude_each_other();
  SHOW(pthread_rwlock_destroy(l));
  unlock_unlocked(k);
}

// The lock is in memory that two processes share. The child holds it.
static void hold_in_child(const struct kind *k, pthread_rwlock_t *shared) {
  say("-- processes, %s", k->name);
  make(shared, k);
  int ready[2], go[2];
  char c;
  NEED(pipe(ready) == 0 && pipe(go) == 0);
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    NEED(pthread_rwlock_wrlock(shared) == 0);
    NEED(write(ready[1], "", 1) == 1);
    NEED(read(go[0], &c, 1) == 1);
    until_blocked(getppid(), SYS_futex, shared, sizeof(*shared));
    NEED(pthread_rwlock_unlock(shared) == 0);
    _exit(0);
  }
  NEED(read(ready[0], &c, 1) == 1);
  SHOW_AS("held by a child", pthread_rwlock_tryrdlock(shared));
  SHOW_AS("held by a child", pthread_rwlock_trywrlock(shared));
  SHOW_AS("held by a child", pthread_rwlock_timedrdlock(shared, &past));
  NEED(write(go[1], "", 1) == 1);
  SHOW_AS("given up by a child", pthread_rwlock_rdlock(shared));
  int status;
  NEED(waitpid(pid, &status, 0) == pid && status == 0);
  SHOW(pthread_rwlock_unlock(shared));
  SHOW(pthread_rwlock_destroy(shared));
}

int main(void) {
  for (size_t i = 0; i < KINDS; i++)
    use(&kinds[i]);
  pthread_rwlock_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  NEED(shared != MAP_FAILED);
  for (size_t i = 0; i < KINDS; i++)
    if (kinds[i].shared)
      hold_in_child(&kinds[i], shared);
  say("end");
  return 0;
}
