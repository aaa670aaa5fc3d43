// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal interrupts pthread_mutex_lock after the thread has got the
// mutex. A request in the signal's handler does not report that the thread
// waits for itself.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app -ldl
// RUN: %run_quiet{stuck=1} timeout 600 ./app

#include "waited.h"

#include <dlfcn.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t tid;
static int calls;
static size_t found = 1000;

// These functions replace libc's functions. pthread_mutex_lock raises a signal
// before it returns.
#define NEXT(f) ((int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, #f))
int pthread_mutex_trylock(pthread_mutex_t *m) {
  return NEXT(pthread_mutex_trylock)(m);
}
int pthread_mutex_unlock(pthread_mutex_t *m) {
  return NEXT(pthread_mutex_unlock)(m);
}
int pthread_mutex_lock(pthread_mutex_t *m) {
  const int result = NEXT(pthread_mutex_lock)(m);
  if (m == &mutex) {
    calls++;
    raise(SIGUSR1);
  }
  return result;
}

static void handle(int sig) {
  static struct mprof_stack_record records[8];
  (void)sig;
  NEED(mprof_thread_leak_profile(records, 8, &found) == 0);
}

static void *want(void *arg) {
  about_to_wait(&tid);
  pthread_mutex_lock(&mutex);
  return arg;
}

int main(void) {
  pthread_t thread;
  signal(SIGUSR1, handle);
  NEED(pthread_mutex_trylock(&mutex) == 0);
  NEED(pthread_create(&thread, NULL, want, NULL) == 0);
  until_waits_in(&tid, SYS_futex);
  NEED(pthread_mutex_unlock(&mutex) == 0);
  NEED(pthread_join(thread, NULL) == 0);
  NEED(calls == 1 && found == 0);
  return 0;
}
