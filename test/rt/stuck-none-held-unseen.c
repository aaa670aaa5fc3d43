// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread waits for a lock that it has held before, and that another
// thread has got by a try lock. The waiting thread is not stuck. In a forked
// child, a thread waits for a mutex that the forking thread has held since
// before the fork. This thread is not stuck either.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "waited.h"

#include <sys/wait.h>

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t tid;

static void *want_both(void *arg) {
  NEED(pthread_rwlock_rdlock(&rwlock) == 0);
  NEED(pthread_rwlock_unlock(&rwlock) == 0);
  about_to_wait(&tid);
  NEED(pthread_rwlock_wrlock(&rwlock) == 0);
  NEED(pthread_rwlock_unlock(&rwlock) == 0);
  return arg;
}

static void *want_mutex(void *arg) {
  about_to_wait(&tid);
  NEED(pthread_mutex_lock(&mutex) == 0);
  NEED(pthread_mutex_unlock(&mutex) == 0);
  return arg;
}

static void need_none_stuck(void *(*want)(void *)) {
  struct mprof_stack_record records[8];
  pthread_t thread;
  size_t n;
  tid = 0;
  NEED(pthread_create(&thread, NULL, want, NULL) == 0);
  until_waits_in(&tid, SYS_futex);
  NEED(mprof_thread_leak_profile(records, 8, &n) == 0 && n == 0);
  pthread_rwlock_unlock(&rwlock);
  pthread_mutex_unlock(&mutex);
  NEED(pthread_join(thread, NULL) == 0);
}

int main(void) {
  int status;
  NEED(pthread_mutex_lock(&mutex) == 0);
  const pid_t child = fork();
  if (child == 0) {
    NEED(pthread_rwlock_tryrdlock(&rwlock) == 0);
    need_none_stuck(want_mutex);
    _exit(0);
  }
  NEED(waitpid(child, &status, 0) == child && status == 0);
  NEED(pthread_rwlock_tryrdlock(&rwlock) == 0);
  need_none_stuck(want_both);
  return 0;
}
