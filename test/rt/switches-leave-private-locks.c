// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library that is opened with RTLD_DEEPBIND may have its own
// pthread_mutex_lock. Its calls go to its own function, also while the block
// profile is on, and also if another thread holds the lock. The program's calls
// go to libc.
//
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1} %t %t.so

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

static void *run(void *m) {
  CHECK_EQ(pthread_mutex_trylock(m), EBUSY);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_t t;
  CHECK_EQ(argc, 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  CHECK(library);
  int (*use)(pthread_mutex_t *) =
      (int (*)(pthread_mutex_t *))dlsym(library, "use");
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(use(&mutex), 11); // libc's lock would wait forever
  pthread_create(&t, NULL, run, &mutex);
  pthread_join(t, NULL);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  return 0;
}
#endif
