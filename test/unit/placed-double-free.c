// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a second free of a block in the cache of placed blocks removes the
// block from the cache, so that the allocator sees both frees. If another
// thread keeps the block, the second free does nothing, and the block serves
// one sample. A signal handler that has interrupted the runtime takes no block
// of the interrupted thread.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t && %t

#include "core.h"

#include "heap/placed_cache.h"
#include "thread/threads.h"

#include <pthread.h>
#include <stdlib.h>

static void be_registered(void) {
  CHECK(mprof_guard_enter());
  CHECK(mprof_thread_self(true) != NULL);
  mprof_guard_leave();
}

static void *get(void) {
  bool is_fresh;
  void *p = mprof_placed_get(100, &is_fresh);
  CHECK(p != NULL);
  return p;
}

// Returns how often the thread's next samples get the block p.
static int times_served(const void *p) {
  int n = 0;
  for (int i = 0; i < 100; i++)
    n += get() == p;
  return n;
}

static void *free_again(void *p) {
  be_registered();
  CHECK(mprof_placed_expose(p));
  CHECK_EQ(times_served(p), 0);
  return NULL;
}

static void check_other_thread(void) {
  void *p = get();
  pthread_t t;
  CHECK(mprof_placed_put(p));
  CHECK_EQ(pthread_create(&t, NULL, free_again, p), 0);
  CHECK_EQ(pthread_join(t, NULL), 0);
  CHECK_EQ(times_served(p), 1);
}

static void check_own_thread(void) {
  void *p = get();
  CHECK(!mprof_placed_expose(p)); // not in the cache
  CHECK(mprof_placed_put(p));
  CHECK(!mprof_placed_expose(p)); // frees p
  CHECK(!mprof_placed_expose(p)); // not in the cache any more
}

static void check_interrupted(void) {
  void *p = get();
  CHECK(mprof_placed_put(p));
  CHECK(mprof_guard_enter());
  CHECK_EQ(times_served(p), 0);
  mprof_guard_leave();
  CHECK_EQ(times_served(p), 1);
}

int main(void) {
  be_registered();
  check_other_thread();
  check_own_thread();
  check_interrupted();
  return 0;
}
