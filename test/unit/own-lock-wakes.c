// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: of threads that sleep until one of the runtime's own locks is free,
// none is forgotten by a release, and two never hold it. Most holds end at
// once, so that releases fall into the moment in which others go to sleep.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t && timeout 60 %t

#include "core.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 6, TIMES = 30000, LONG_EACH = 100 };

static struct mprof_lock lock = MPROF_LOCK_INIT(MPROF_RANK_MEMORY);
static unsigned held; // guarded by the lock
static _Atomic unsigned most_sleepers;

static void *take(void *arg) {
  for (int i = 0; i < TIMES; i++) {
    mprof_guard_enter();
    mprof_lock_acquire(&lock);
    held++;
    if (i % LONG_EACH == 0) {
      const unsigned before = held;
      usleep(1); // longer than others look before they sleep
      CHECK_EQ(held, before);
      const unsigned n = atomic_load(&lock.sleepers);
      if (n > atomic_load(&most_sleepers))
        atomic_store(&most_sleepers, n);
    }
    mprof_lock_release(&lock);
    mprof_guard_leave();
    if (i % 7 == 0)
      sched_yield();
  }
  return arg;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, take, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(held, THREADS * TIMES);
  CHECK_EQ(atomic_load(&lock.sleepers), 0);
  CHECK(atomic_load(&most_sleepers) > 1);
  return 0;
}
