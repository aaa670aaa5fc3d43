// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: 2 to 64 threads cause events of all kinds while traces are started
// and stopped. mprof trace check and Go accept the traces, and Go 1.19 those of
// format 1.5.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o stress
// RUN: for n in 2 4 16 64; do \
// RUN:   %run_quiet ./stress $n 40 3 $n. || exit 1; done
// RUN: %trace_check -q *.trace
// RUN: %if go-1.23 %{ for f in *.trace; do \
// RUN:   %go tool trace -d=parsed $f > /dev/null || exit 1; done %}
// RUN: for n in 2 8 64; do \
// RUN:   %run_quiet{trace_format=1.5} ./stress $n 30 2 old.$n. || exit 1; done
// RUN: for f in old.*.trace; do \
// RUN:   %go119 tool trace -d stress $f > /dev/null || exit 1; done
//
// For a longer run: stress THREADS MILLISECONDS SESSIONS PREFIX

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>

enum { LOCKS = 4, THREADS_MAX = 64 };
static pthread_mutex_t locks[LOCKS];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2], sockets[2];
static volatile int done;

static void *volatile sink;
static void work(int n) {
  for (int i = 0; i < n; i++)
    sink = NULL;
}

static void pause_for(long ns) {
  const struct timespec t = {0, ns};
  nanosleep(&t, NULL);
}

static void hold(unsigned which) {
  pthread_mutex_t *m = &locks[which % LOCKS];
  pthread_mutex_lock(m);
  work(500);
  if (which / LOCKS % 32 == 0)
    pause_for(1000);
  pthread_mutex_unlock(m);
}

static void wait_a_little(void) {
  const struct timespec t = after_ns_on(CLOCK_REALTIME, 100000);
  pthread_mutex_lock(&locks[0]);
  pthread_cond_timedwait(&condition, &locks[0], &t);
  pthread_mutex_unlock(&locks[0]);
}

static void *tiny(void *arg) {
  hold(1);
  return arg;
}

static void create_tiny(int detached) {
  pthread_t t;
  pthread_attr_t a;
  pthread_attr_init(&a);
  if (detached)
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
  if (pthread_create(&t, &a, tiny, NULL) == 0 && !detached)
    pthread_join(t, NULL);
  pthread_attr_destroy(&a);
}

static void user_events(unsigned n) {
  char byte = 0;
  const uint64_t task = mprof_trace_task_begin(0, "request");
  mprof_trace_region_begin(task, "outer");
  mprof_trace_region_begin(task, "inner");
  mprof_trace_log(task, "key", n % 2 ? "a message" : "");
  free(malloc(100000));
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
    exit(1);
  mprof_trace_region_end(task, "inner");
  mprof_trace_region_end(task, "outer");
  mprof_trace_task_end(task);
}

static void step(unsigned n) {
  char byte = 0;
  struct pollfd p = {ends[0], POLLIN, 0};
  switch (n % 16) {
  case 0:
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return;
  case 1:
    pthread_rwlock_wrlock(&rwlock);
    work(200);
    pthread_rwlock_unlock(&rwlock);
    return;
  case 2:
    sem_wait(&semaphore);
    work(200);
    sem_post(&semaphore);
    return;
  case 3:
    wait_a_little();
    return;
  case 4:
    pthread_cond_signal(&condition);
    return;
  case 5:
    pthread_cond_broadcast(&condition);
    return;
  case 6:
    pause_for(20000);
    return;
  case 7:
    create_tiny(0);
    return;
  case 8:
    create_tiny(1);
    return;
  case 9:
    user_events(n / 16);
    return;
  case 10:
    if (send(sockets[0], &byte, 1, 0) != 1 ||
        recv(sockets[1], &byte, 1, 0) != 1)
      exit(1);
    return;
  case 11:
    poll(&p, 1, 0);
    return;
  default:
    hold(n / 16);
  }
}

static void *run(void *arg) {
  unsigned random = (unsigned)(size_t)arg;
  while (!done) {
    random = random * 1103515245 + 12345;
    step(random >> 16);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t t[THREADS_MAX];
  if (argc != 5 || pipe(ends) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    return 1;
  const int n = atoi(argv[1]), ms = atoi(argv[2]), sessions = atoi(argv[3]);
  sem_init(&semaphore, 0, 1);
  for (int i = 0; i < LOCKS; i++)
    pthread_mutex_init(&locks[i], NULL);
  for (int i = 0; i < n && i < THREADS_MAX; i++)
    pthread_create(&t[i], NULL, run, (void *)(size_t)(i + 1));
  for (int s = 0; s < sessions; s++) {
    char path[256];
    snprintf(path, sizeof(path), "%s%d.trace", argv[4], s);
    int error = mprof_trace_start(path);
    pause_for(ms * 1000000L);
    if (error != 0 || (error = mprof_trace_stop()) != 0) {
      fprintf(stderr, "session %d: error %d\n", s, error);
      return 1;
    }
  }
  done = 1;
  for (int i = 0; i < n && i < THREADS_MAX; i++)
    pthread_join(t[i], NULL);
  return 0;
}
