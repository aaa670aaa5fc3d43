// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for stuck threads does no harm if the program's locks are
// unmapped or contain garbage. Signal handlers, several threads at once, and
// threads during a fork may request the search. After a request that finds
// nothing, a later request finds threads that have deadlocked since.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: %run_quiet timeout 600 ./app

#include "waited.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static pid_t tids[2];
static pthread_mutex_t *gone, garbage;

static void *wait_for_gone(void *arg) {
  about_to_wait(&tids[0]);
  pthread_mutex_lock(gone);
  return arg;
}
static void *wait_for_garbage(void *arg) {
  about_to_wait(&tids[1]);
  pthread_mutex_lock(&garbage);
  return arg;
}

static pthread_mutex_t twice = PTHREAD_MUTEX_INITIALIZER;
static void *lock_twice(void *arg) {
  pthread_mutex_lock(&twice);
  pthread_mutex_lock(&twice);
  return arg;
}

static size_t count(void) {
  static _Thread_local struct mprof_stack_record records[64];
  size_t n = 0;
  const int error = mprof_thread_leak_profile(records, 64, &n);
  NEED(error == 0 || error == EBUSY);
  return n;
}

static volatile sig_atomic_t handled;
static void on_signal(int sig) {
  (void)sig;
  count();
  handled++;
}

static void *ask(void *arg) {
  for (int i = 0; i < 10; i++)
    count();
  return arg;
}

static void fork_meanwhile(void) {
  pthread_t asking;
  NEED(pthread_create(&asking, NULL, ask, NULL) == 0);
  for (int i = 0; i < 5; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      count();
      _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
  }
  NEED(pthread_join(asking, NULL) == 0);
}

int main(void) {
  pthread_t t;
  NEED(count() == 0);
  gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
  pthread_mutex_lock(gone);
  pthread_mutex_lock(&garbage);
  NEED(pthread_create(&t, NULL, wait_for_gone, NULL) == 0);
  NEED(pthread_create(&t, NULL, wait_for_garbage, NULL) == 0);
  until_waits_in(&tids[0], SYS_futex);
  until_waits_in(&tids[1], SYS_futex);
  munmap(gone, 4096);
  ((int *)&garbage)[2] = 0x7fffffff; // owner
  ((int *)&garbage)[4] = 0x12345678; // kind
  NEED(count() == 0);
  NEED(pthread_create(&t, NULL, lock_twice, NULL) == 0);
  for (int i = 0; i < 30000 && count() != 1; i++)
    usleep(5000);
  NEED(count() == 1);
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < 5; i++)
    raise(SIGUSR1);
  NEED(handled == 5);
  fork_meanwhile();
  NEED(count() == 1);
  _exit(0);
}
