// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: on musl a wait that ends by cancellation is recorded, and the
// thread's cleanup handlers run in order. Later waits are recorded, too.
// Joining a thread that has ended is no wait.
//
// REQUIRES: musl
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for link in '' -static; do \
// RUN:   %mprof_clang -fmprof --target=x86_64-linux-musl -O2 -g1 -I%src/test/Inputs $link %s -o app && \
// RUN:   %run{block_rate=1:report=0:log_path=p} timeout 600 ./app && \
// RUN:   for f in p.*.block.pb.gz; do %mprof_read --symbolize $f; done \
// RUN:   | grep "^sample: " > stacks && not grep join_ended stacks && \
// RUN:   FileCheck %s < stacks || exit 1; rm p.*; done
//
// CHECK-DAG: sample: 3 {{.*}} kind=cond{{.*}} : pthread_cond_wait <- for_a_condition
// CHECK-DAG: sample: 3 {{.*}} kind=sem{{.*}} : sem_wait <- for_a_semaphore
// CHECK-DAG: sample: 1 {{.*}} kind=sem{{.*}} : sem_wait <- main
// CHECK-DAG: sample: 1 {{.*}} kind=join{{.*}} : pthread_join <- join_running

#include "waited.h"

#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, posted;
static int ran[2];

static void first(void *arg) { *(int *)arg = *(int *)arg * 10 + 1; }
static void second(void *arg) {
  *(int *)arg = *(int *)arg * 10 + 2;
  if (arg == &ran[0])
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void *for_a_condition(void *arg) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(second, arg);
  pthread_cleanup_push(first, arg);
  for (;;)
    pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

__attribute__((noinline)) static void *for_a_semaphore(void *arg) {
  pthread_cleanup_push(second, arg);
  pthread_cleanup_push(first, arg);
  for (;;)
    sem_wait(&semaphore);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel(void *(*f)(void *), int *result, void *object) {
  pthread_t t;
  void *value;
  *result = 0;
  pthread_create(&t, NULL, f, result);
  until_waited_for(object);
  pthread_cancel(t);
  pthread_join(t, &value);
  if (value != PTHREAD_CANCELED || *result != 12) {
    fprintf(stderr, "not cancelled, or handlers ran as %d\n", *result);
    exit(1);
  }
}

__attribute__((noinline)) static void join_running(pthread_t t) {
  pthread_join(t, NULL);
  usleep(1);
}

__attribute__((noinline)) static void join_ended(pthread_t t) {
  pthread_join(t, NULL);
  usleep(1);
}

static void *until_joined(void *arg) {
  until_main_waits(NULL, 0);
  return arg;
}

static atomic_int ended;

static void *note_thread(void *arg) {
  ended = (int)syscall(SYS_gettid);
  return arg;
}

static void join_both(void) {
  pthread_t t;
  pthread_create(&t, NULL, until_joined, NULL);
  join_running(t);
  pthread_create(&t, NULL, note_thread, NULL);
  while (ended == 0)
    pause_us(100);
  until_gone(ended);
  join_ended(t);
}

static void *post(void *arg) {
  until_main_waits(&posted, sizeof(posted));
  sem_post(&posted);
  return arg;
}

int main(void) {
  pthread_t t;
  sem_init(&semaphore, 0, 0);
  sem_init(&posted, 0, 0);
  for (int i = 0; i < 3; i++) {
    cancel(for_a_condition, &ran[0], &condition);
    cancel(for_a_semaphore, &ran[1], &semaphore);
  }
  pthread_create(&t, NULL, post, NULL);
  sem_wait(&posted);
  pthread_join(t, NULL);
  join_both();
  return 0;
}
