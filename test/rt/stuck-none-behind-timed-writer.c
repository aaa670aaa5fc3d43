// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a reader of an rwlock waits behind a writer that waits with a
// timeout. The holder of the lock joins the reader. Neither the reader nor the
// holder is stuck, because the reader can go on after the timeout.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

static pthread_rwlock_t lock;
static pthread_barrier_t is_read;
static pthread_t reader;
static pid_t tids[3]; // of the holder, the writer and the reader

static void *read_behind(void *arg) {
  until_waits_in(&tids[1], SYS_futex);
  about_to_wait(&tids[2]);
  NEED(pthread_rwlock_rdlock(&lock) == 0);
  NEED(pthread_rwlock_unlock(&lock) == 0);
  return arg;
}

static void *write_in_time(void *arg) {
  pthread_barrier_wait(&is_read);
  const struct timespec t = after(3000);
  about_to_wait(&tids[1]);
  NEED(pthread_rwlock_timedwrlock(&lock, &t) == ETIMEDOUT);
  return arg;
}

static void *hold(void *arg) {
  NEED(pthread_rwlock_rdlock(&lock) == 0);
  pthread_barrier_wait(&is_read);
  about_to_wait(&tids[0]);
  NEED(pthread_join(reader, NULL) == 0);
  NEED(pthread_rwlock_unlock(&lock) == 0);
  return arg;
}

int main(void) {
  pthread_rwlockattr_t a;
  pthread_t writer, holder;
  pthread_rwlockattr_init(&a);
  pthread_rwlockattr_setkind_np(&a,
                                PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  NEED(pthread_rwlock_init(&lock, &a) == 0);
  pthread_barrier_init(&is_read, NULL, 2);
  apart(make_gate_and_forget, NULL);
  NEED(pthread_create(&reader, NULL, read_behind, NULL) == 0);
  NEED(pthread_create(&writer, NULL, write_in_time, NULL) == 0);
  NEED(pthread_create(&holder, NULL, hold, NULL) == 0);
  until_waits_in(&tids[2], SYS_futex);
  until_waits_in(&tids[0], SYS_futex);
  NEED(count_stuck() == 1);
  NEED(pthread_join(holder, NULL) == 0);
  NEED(pthread_join(writer, NULL) == 0);
  _exit(0);
}
