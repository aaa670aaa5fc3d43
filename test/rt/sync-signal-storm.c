// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: signal handlers that post, poll, write and read may interrupt threads
// in locks and waits. The program does not hang and loses no data, with and
// without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: signals were handled: 1
// CHECK: counted by all: 9000
// CHECK: posts of handlers: all there
// CHECK: bytes of handlers: all there
// CHECK: errno was kept: 1
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

enum { THREADS = 3, ROUNDS = 3000, SIGNALS = 4000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t posted, tokens;
static int p[2];
static long handled, written, count, not_kept, turn;

static void handle(int sig) {
  int before = errno;
  errno = UNTOUCHED;
  if (sem_post(&posted) != 0)
    abort();
  struct pollfd f = {p[1], POLLOUT, 0};
  poll(&f, 1, 0);
  if (errno != UNTOUCHED)
    __atomic_fetch_add(&not_kept, 1, __ATOMIC_RELAXED);
  if (write(p[1], "", 1) == 1)
    __atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
  struct timespec none = {0, 0};
  nanosleep(&none, NULL);
  // Locks that only this thread uses are allowed in a handler, too.
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
  errno = before;
  (void)sig;
}

static void work(void *arg) {
  int me = *(int *)arg;
  for (int i = 0; i < ROUNDS; i++) {
    NEED(pthread_mutex_lock(&mutex) == 0);
    count++;
    NEED(pthread_mutex_unlock(&mutex) == 0);
    if (i % 2)
      NEED(pthread_rwlock_rdlock(&rwlock) == 0);
    else
      NEED(pthread_rwlock_wrlock(&rwlock) == 0);
    NEED(pthread_rwlock_unlock(&rwlock) == 0);
    NEED(sem_post(&tokens) == 0);
    while (sem_wait(&tokens) != 0)
      NEED(errno == EINTR);
    if (i % 10 == 0) {
      struct timespec soon = after(1);
      NEED(pthread_mutex_lock(&turn_mutex) == 0);
      if (turn++ % THREADS != me)
        pthread_cond_timedwait(&turn_cond, &turn_mutex, &soon);
      NEED(pthread_cond_broadcast(&turn_cond) == 0);
      NEED(pthread_mutex_unlock(&turn_mutex) == 0);
    }
  }
}

int main(void) {
  NEED(sem_init(&posted, 0, 0) == 0 && sem_init(&tokens, 0, 0) == 0);
  NEED(pipe2(p, O_NONBLOCK) == 0);
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  sa.sa_flags = SA_NODEFER; // handlers interrupt handlers
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
  NEED(sigaction(SIGUSR2, &sa, NULL) == 0);
  struct thread t[THREADS];
  int which[THREADS];
  for (int i = 0; i < THREADS; i++) {
    which[i] = i;
    start(&t[i], work, &which[i]);
  }
  // The threads cannot have ended: they are joined below.
  for (long sent = 0; sent < SIGNALS; sent++) {
    NEED(pthread_kill(t[sent % THREADS].id, sent % 2 ? SIGUSR1 : SIGUSR2) == 0);
    if (sent % 16 == 0)
      usleep(50);
  }
  for (int i = 0; i < THREADS; i++)
    finish(&t[i]);
  // A signal that is already pending is not queued a second time.
  say("signals were handled: %d", handled > 0 && handled <= SIGNALS);
  say("counted by all: %ld", count);
  long posts = 0, bytes = 0;
  while (sem_trywait(&posted) == 0)
    posts++;
  char c;
  while (read(p[0], &c, 1) == 1)
    bytes++;
  say("posts of handlers: %s", posts == handled ? "all there" : "lost");
  say("bytes of handlers: %s", bytes == written ? "all there" : "lost");
  say("errno was kept: %d", not_kept == 0);
  say("end");
  return 0;
}
