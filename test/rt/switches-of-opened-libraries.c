// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library that is opened while the block profile is on reports its
// waits. Threads may switch the profile on and off while other threads lock,
// and while libraries are opened and closed: each lock still excludes the other
// threads, and a profile that stays on afterwards has the waits of the library.
//
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: cp %t.so %t.2.so
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=0} %t %t.so %t.2.so

#ifdef LIBRARY
#include <pthread.h>

// Each thread adds 1 to *counter, which the mutex guards.
__attribute__((noinline)) int add(pthread_mutex_t *m, long *counter) {
  if (pthread_mutex_lock(m) != 0)
    return -1;
  ++*counter;
  return pthread_mutex_unlock(m); // a call that would be a jump
}
#else
#define _GNU_SOURCE
#include "sync-observe.h"

#include "mprof/mprof.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

typedef int add_fn(pthread_mutex_t *, long *);
enum { ADDERS = 3, ADDS = 20000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static atomic_bool has_ended;
static const char *second;

static void *adds(void *add) {
  for (int i = 0; i < ADDS; i++)
    CHECK_EQ(((add_fn *)add)(&mutex, &counter), 0);
  return NULL;
}

static void *toggles(void *arg) {
  for (int64_t i = 0; !atomic_load(&has_ended); i++)
    mprof_set_block_rate(i & 1);
  return arg;
}

static void *opens(void *arg) {
  while (!atomic_load(&has_ended)) {
    void *library = dlopen(second, RTLD_NOW);
    CHECK(library);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    long n = 0;
    CHECK_EQ(((add_fn *)dlsym(library, "add"))(&own, &n), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(dlclose(library), 0);
  }
  return arg;
}

static void waits(void *add) { CHECK_EQ(((add_fn *)add)(&mutex, &counter), 0); }

// Returns the number of recorded waits in the function add.
static int64_t waits_in(add_fn *add) {
  static struct mprof_block_record records[1000];
  size_t n = 0;
  int64_t found = 0;
  CHECK_EQ(mprof_block_profile(records, 1000, &n), 0);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      if (records[i].stack0[k] - (uintptr_t)add - 1 < 100)
        found += records[i].count;
  return found;
}

int main(int argc, char **argv) {
  pthread_t t[ADDERS], toggler, opener;
  CHECK_EQ(argc, 3);
  second = argv[2];
  mprof_set_block_rate(1);
  void *library = dlopen(argv[1], RTLD_NOW);
  CHECK(library);
  add_fn *add = (add_fn *)dlsym(library, "add");
  CHECK(add);

  pthread_create(&toggler, NULL, toggles, NULL);
  pthread_create(&opener, NULL, opens, NULL);
  for (int i = 0; i < ADDERS; i++)
    pthread_create(&t[i], NULL, adds, (void *)add);
  for (int i = 0; i < ADDERS; i++)
    pthread_join(t[i], NULL);
  atomic_store(&has_ended, true);
  pthread_join(toggler, NULL);
  pthread_join(opener, NULL);
  CHECK_EQ(counter, (long)ADDERS * ADDS);

  mprof_set_block_rate(1);
  const int64_t before = waits_in(add);
  pthread_mutex_lock(&mutex);
  struct thread waiter;
  start_waiting(&waiter, waits, (void *)add, &mutex, sizeof(mutex));
  pthread_mutex_unlock(&mutex);
  finish(&waiter);
  CHECK_EQ(waits_in(add), before + 1);
  mprof_set_block_rate(0);
  CHECK_EQ(dlclose(library), 0);
  mprof_set_block_rate(1); // writes to no switch of the closed library
  return 0;
}
#endif
