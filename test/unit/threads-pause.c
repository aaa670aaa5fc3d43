// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that have given their stacks pause until the round ends, if
// more threads were asked than they have processors. Otherwise no thread
// pauses. All threads go on after the end of the round, also if the next round
// has begun meanwhile. A thread that holds a lock of the runtime never pauses,
// and neither does one that comes too late.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "sys/os.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 20 };
static atomic_uint pausing, done;
static int tids[THREADS];

static struct mprof_thread *self(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(false);
  mprof_guard_leave();
  return t;
}

static void *pause_once(void *arg) {
  CHECK(self() != NULL);
  tids[(long)arg] = mprof_sys_gettid();
  atomic_fetch_add(&pausing, 1);
  mprof_pause(mprof_pause_round());
  atomic_fetch_add(&done, 1);
  return NULL;
}

static void start(pthread_t *threads, long n) {
  for (long i = 0; i < n; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, pause_once, (void *)i), 0);
  while (atomic_load(&pausing) != n)
    sched_yield();
}

static void join(const pthread_t *threads, long n) {
  for (long i = 0; i < n; i++)
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static bool sleeps(int tid) {
  struct mprof_proc_thread p;
  CHECK(mprof_proc_thread(tid, &p));
  return p.state == 'S';
}

static void wait_until_paused(long n) {
  for (long i = 0; i < n; i++)
    while (!sleeps(tids[i]))
      sched_yield();
}

// The calling thread and all later threads get only one processor. So the first
// thread that is asked does not make the processor crowded, and the second one
// does.
static void use_one_processor(void) {
  cpu_set_t all, one;
  int cpu = 0;
  CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  while (!CPU_ISSET(cpu, &all))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void test_enough_processors(void) {
  struct mprof_asked asked = {0};
  CHECK(!mprof_pause_asked(&asked, getpid()));
  mprof_pause(mprof_pause_round()); // returns at once
  mprof_pause_end();
}

static void crowd(void) {
  struct mprof_asked asked = {0};
  CHECK(!mprof_pause_asked(&asked, getpid()));
  CHECK(mprof_pause_asked(&asked, getpid()));
  CHECK(!mprof_pause_asked(&asked, getpid())); // tells only once
}

static void test_crowd(void) {
  pthread_t threads[THREADS];
  crowd();
  const unsigned former = mprof_pause_round();
  start(threads, THREADS);
  wait_until_paused(THREADS);
  CHECK_EQ(atomic_load(&done), 0);
  mprof_pause_end();
  // These threads belong to the former round. The new one does not keep them.
  crowd();
  join(threads, THREADS);
  mprof_pause(former); // returns at once, too
  mprof_pause_end();
}

static void test_lock_held(void) {
  crowd();
  mprof_guard_enter();
  mprof_lock_acquire(&mprof_registry_lock);
  mprof_pause(mprof_pause_round()); // returns at once
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
  mprof_pause_end();
}

int main(void) {
  CHECK(self() != NULL);
  mprof_pause_ms = 3600000;
  alarm(60); // ends a test that hangs
  use_one_processor();
  test_enough_processors();
  test_crowd();
  test_lock_held();
  return 0;
}
