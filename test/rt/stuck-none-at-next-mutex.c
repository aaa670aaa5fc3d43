// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that is woken at a condition, and then waits for the mutex,
// no longer counts as waiting for the condition. So it is not stuck, although
// nobody can reach the condition. The mutex is the next block in memory after
// the condition.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

struct pair {
  pthread_cond_t opens;
  char between[16]; // as malloc lays out two blocks
  pthread_mutex_t mutex;
};

static struct pair *volatile pair; // NULL once it is opened
static pthread_mutex_t *volatile mutex;
static int is_open;
static pid_t tid;

static void *wait_at_pair(void *arg) {
  struct pair *p = pair;
  pthread_mutex_lock(&p->mutex);
  about_to_wait(&tid);
  while (!is_open)
    pthread_cond_wait(&p->opens, &p->mutex);
  pthread_mutex_unlock(&p->mutex);
  return arg;
}

static void *make_pair(void *arg) {
  pthread_cond_t *c = malloc(sizeof(*c));
  pthread_mutex_t *m = malloc(sizeof(*m));
  pair = (struct pair *)(void *)c;
  NEED(m == &pair->mutex);
  pthread_cond_init(c, NULL);
  pthread_mutex_init(m, NULL);
  mutex = m;
  forget_calls();
  return arg;
}

static void *open_and_forget(void *arg) {
  is_open = 1;
  pthread_cond_signal(&pair->opens);
  pair = NULL;
  forget_calls();
  return arg;
}

int main(void) {
  pthread_t t;
  apart(make_pair, NULL);
  NEED(pthread_create(&t, NULL, wait_at_pair, NULL) == 0);
  until_waits_in(&tid, SYS_futex);
  pthread_mutex_lock(mutex);
  apart(open_and_forget, NULL);
  usleep(20000); // time to go from one futex to the other
  until_waits_in(&tid, SYS_futex);
  for (int i = 0; i < 3; i++) {
    struct mprof_stack_record records[4];
    size_t n = 1;
    NEED(mprof_thread_leak_profile(records, 4, &n) == 0 && n == 0);
  }
  pthread_mutex_unlock(mutex);
  NEED(pthread_join(t, NULL) == 0);
  _exit(0);
}
