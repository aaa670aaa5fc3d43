// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that has left a wait by cancellation, or by siglongjmp out
// of a signal handler, is not shown as waiting. A thread whose signal handler
// waits is shown in the handler's wait. After the handler, the thread is shown
// in the interrupted wait again.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fexceptions -I%src/test/Inputs %s -o app
// RUN: %run_quiet{threads=1} ./app
// The code to which handlers return begins a mapping of the emulator, so that
// profiles do not show it.
// RUN: interrupted=%if emulated %{'[truncated]'%} %else %{' <- sleep_long'%}
// RUN: %mprof_read --symbolize first.pb.gz | \
// RUN:   FileCheck %s -DINTERRUPTED="$interrupted"
// RUN: %mprof_read --symbolize second.pb.gz | FileCheck %s --check-prefix=AFTER
//
// CHECK-DAG: state=running : spin <- cleanup <- {{.*}}
// CHECK-DAG: state=running : spin <- jump_out_of_read{{$}}
// CHECK-DAG: state=running : spin <- jump_out_of_lock{{$}}
// CHECK-DAG: state=waiting kind=poll : poll <- wait_in_handler <- handle <- {{.*}}[[INTERRUPTED]]{{$}}
// CHECK-NOT: : read <-
// CHECK-NOT: : pthread_mutex_lock <-
//
// AFTER-NOT: wait_in_handler
// AFTER: state=waiting kind=sem : sem_wait <- sleep_long{{$}}
// AFTER-NOT: wait_in_handler

#include "waited.h"

#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>

static int ends[2], handler_ends[2], running, may_end, in_handler;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static pid_t tids[4];
static _Thread_local sigjmp_buf out;

__attribute__((noinline)) static void spin(void) {
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    ;
}

static void cleanup(void *arg) {
  spin();
  NEED(arg == NULL);
}

static void *cancelled(void *arg) {
  char byte;
  pthread_cleanup_push(cleanup, NULL);
  about_to_wait(&tids[0]);
  NEED(read(ends[0], &byte, 1) == 1);
  pthread_cleanup_pop(0);
  return arg;
}

static void jump(int sig) { siglongjmp(out, sig); }

__attribute__((noinline)) static void *jump_out_of_read(void *arg) {
  char byte;
  if (sigsetjmp(out, 1) == 0) {
    about_to_wait(&tids[1]);
    NEED(read(ends[0], &byte, 1) == 1);
  }
  spin();
  return arg;
}
__attribute__((noinline)) static void *jump_out_of_lock(void *arg) {
  if (sigsetjmp(out, 1) == 0) {
    about_to_wait(&tids[2]);
    NEED(pthread_mutex_lock(&mutex) == 0);
  }
  spin();
  return arg;
}

__attribute__((noinline)) static void wait_in_handler(void) {
  struct pollfd f = {handler_ends[0], POLLIN, 0};
  NEED(poll(&f, 1, 60000) == 1);
}
static void handle(int sig) {
  __atomic_store_n(&in_handler, sig, __ATOMIC_RELAXED);
  wait_in_handler();
  __atomic_store_n(&in_handler, 0, __ATOMIC_RELAXED);
}
__attribute__((noinline)) static void *sleep_long(void *arg) {
  about_to_wait(&tids[3]);
  while (sem_wait(&semaphore) != 0)
    NEED(errno == EINTR);
  return arg;
}

int main(void) {
  pthread_t t[4];
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_flags = SA_RESTART;
  action.sa_handler = handle;
  NEED(sigaction(SIGUSR2, &action, NULL) == 0);
  NEED(signal(SIGUSR1, jump) != SIG_ERR);
  NEED(pipe(ends) == 0 && pipe(handler_ends) == 0);
  NEED(sem_init(&semaphore, 0, 0) == 0 && pthread_mutex_lock(&mutex) == 0);
  NEED(pthread_create(&t[0], NULL, cancelled, NULL) == 0);
  NEED(pthread_create(&t[1], NULL, jump_out_of_read, NULL) == 0);
  NEED(pthread_create(&t[2], NULL, jump_out_of_lock, NULL) == 0);
  NEED(pthread_create(&t[3], NULL, sleep_long, NULL) == 0);
  until_waits_in(&tids[0], SYS_read);
  until_waits_in(&tids[1], SYS_read);
  until_waits_in(&tids[2], SYS_futex);
  until_waits_in(&tids[3], SYS_futex);
  NEED(pthread_cancel(t[0]) == 0);
  NEED(pthread_kill(t[1], SIGUSR1) == 0 && pthread_kill(t[2], SIGUSR1) == 0);
  NEED(pthread_kill(t[3], SIGUSR2) == 0);
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) != 3 ||
         !__atomic_load_n(&in_handler, __ATOMIC_RELAXED))
    usleep(1000);
  until_waits_in(&tids[3], SYS_poll);
  NEED(mprof_write_profile("threads", "first.pb.gz", 0) == 0);
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  NEED(write(handler_ends[1], "", 1) == 1);
  while (__atomic_load_n(&in_handler, __ATOMIC_RELAXED))
    usleep(1000);
  until_waits_in(&tids[3], SYS_futex);
  NEED(mprof_write_profile("threads", "second.pb.gz", 0) == 0);
  sem_post(&semaphore);
  for (int i = 0; i < 4; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}
