// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library that is opened with RTLD_DEEPBIND, or does not export its
// symbols, may have its own pthread_mutex_lock. Its calls go to its own
// function, also while the block profile is on, and also if another thread
// holds the lock. The program's calls go to libc. This also holds if the
// program itself calls no such function.
//
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t %t.so
// RUN: echo '{ global: use; local: *; };' > %t.map
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s \
// RUN:   -Wl,--version-script=%t.map -o %t.local.so
// RUN: %run_quiet{block_rate=1} %t %t.local.so
// RUN: %mprof_clang -fmprof -O2 -DNO_LOCK -I%src/test/Inputs %s -o %t.no_lock
// RUN: %run_quiet{block_rate=1} %t.no_lock %t.so
// RUN: %run_quiet{block_rate=1} %t.no_lock %t.local.so

#include <pthread.h>

#ifdef LIBRARY
static int locks, unlocks;

int pthread_mutex_lock(pthread_mutex_t *m) {
  (void)m;
  locks++;
  return 0;
}
int pthread_mutex_unlock(pthread_mutex_t *m) {
  (void)m;
  unlocks++;
  return 0;
}
int use(pthread_mutex_t *m) {
  int failed = pthread_mutex_lock(m);
  failed += pthread_mutex_unlock(m);
  return failed ? -1 : locks * 10 + unlocks;
}
#else
#include "check.h"

#include <dlfcn.h>

#ifdef NO_LOCK
static void lock(pthread_mutex_t *m) { memset(m, 255, sizeof(*m)); }
static void try_and_unlock(pthread_mutex_t *m) { (void)m; }
#else
static void *try(void *m) {
  CHECK_EQ(pthread_mutex_trylock(m), EBUSY);
  return NULL;
}
static void lock(pthread_mutex_t *m) { CHECK_EQ(pthread_mutex_lock(m), 0); }
static void try_and_unlock(pthread_mutex_t *m) {
  pthread_t t;
  pthread_create(&t, NULL, try, m);
  pthread_join(t, NULL);
  CHECK_EQ(pthread_mutex_unlock(m), 0);
}
#endif

int main(int argc, char **argv) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK_EQ(argc, 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  CHECK(library);
  int (*use)(pthread_mutex_t *) =
      (int (*)(pthread_mutex_t *))dlsym(library, "use");
  lock(&mutex);
  CHECK_EQ(use(&mutex), 11); // libc's lock would wait forever
  try_and_unlock(&mutex);
  return 0;
}
#endif
