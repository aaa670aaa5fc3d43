// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program defines functions for mutexes. A library that is opened
// with RTLD_DEEPBIND calls libc's functions, also after a thread has waited for
// a mutex and all calls have become calls of the runtime.
//
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %mprof_clang -fmprof -O2 -rdynamic -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t %t.so

#define _GNU_SOURCE 1
#include <pthread.h>

#ifdef LIBRARY
int use(pthread_mutex_t *m) {
  int failed = pthread_mutex_lock(m);
  failed += pthread_mutex_unlock(m);
  return failed;
}
#else
#include "sync-observe.h"

#include <dlfcn.h>

static int calls;

#define FORWARD(f)                                                             \
  int f(pthread_mutex_t *m) {                                                  \
    calls++;                                                                   \
    return ((int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, #f))(m);              \
  }
FORWARD(pthread_mutex_lock)
FORWARD(pthread_mutex_trylock)
FORWARD(pthread_mutex_unlock)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_it(void *arg) {
  (void)arg;
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}

static void make_wait(void) {
  struct thread t;
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  start_waiting(&t, wait_for_it, NULL, &mutex, sizeof(mutex));
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  finish(&t);
}

int main(int argc, char **argv) {
  pthread_mutex_t of_library = PTHREAD_MUTEX_INITIALIZER;
  CHECK_EQ(argc, 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  CHECK(library);
  int (*use)(pthread_mutex_t *) =
      (int (*)(pthread_mutex_t *))dlsym(library, "use");
  for (int i = 0; i < 2; i++) {
    const int before = calls;
    CHECK_EQ(use(&of_library), 0);
    CHECK_EQ(calls, before);
    make_wait();
    CHECK(calls > before);
  }
  return 0;
}
#endif
