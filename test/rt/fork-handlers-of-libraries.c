// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library's fork handler that waits for its own lock does not
// deadlock with a thread that allocates while it holds that lock, although the
// library registered before the profiler did.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -shared -fPIC -DLIBRARY %s -o liblock.so
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s ./liblock.so -o app
// RUN: env MPROF_OPTIONS=heap_rate=1:report=0:profile=0 timeout 60 ./app

#include <pthread.h>

#ifdef LIBRARY
pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) { pthread_mutex_lock(&library_lock); }
static void unlock(void) { pthread_mutex_unlock(&library_lock); }
__attribute__((constructor)) static void at_load(void) {
  pthread_atfork(lock, unlock, unlock);
}
#else
#include "records.h"

#include <sys/wait.h>
#include <unistd.h>

extern pthread_mutex_t library_lock;
static _Thread_local void *volatile mine;
static volatile int done;

static void *work(void *arg) {
  for (size_t n = 0; !done; n++) {
    pthread_mutex_lock(&library_lock);
    mine = malloc(1 + n % 100000); // a new bucket each, so the insert lock
    free(mine);
    pthread_mutex_unlock(&library_lock);
  }
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 300; i++) {
    pid_t pid = fork();
    if (pid == 0)
      _exit(0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  done = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  return 0;
}
#endif
