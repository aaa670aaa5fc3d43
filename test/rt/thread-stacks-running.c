// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threads profile gets the stack of a running thread by a signal.
// This works in the thread's own code, in a callback of the C library, and in a
// signal handler on an alternate stack. It also works before MProf has a record
// of the thread, and if threads_stop=1 stops all threads. The program's own
// handler of that signal gets the signals that the program sends, and stays
// installed.
//
// The code to which handlers return begins a mapping of the emulator, so that
// profiles do not show it.
// RUN: interrupted=%if emulated %{'[truncated]'%} %else %{' <- interrupted <- in_handler'%}
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{threads=1} ./app handler
// RUN: %mprof_read --symbolize threads.pb.gz | \
// RUN:   FileCheck %s -DINTERRUPTED="$interrupted"
// RUN: rm threads.pb.gz
// RUN: %run_quiet{threads_stop=1} ./app
// RUN: %mprof_read --symbolize threads.pb.gz | \
// RUN:   FileCheck %s -DINTERRUPTED="$interrupted"
// RUN: rm threads.pb.gz
// RUN: %run_quiet{threadcreate=0:threads_signal=50} ./app
// RUN: %mprof_read --symbolize threads.pb.gz | \
// RUN:   FileCheck %s -DINTERRUPTED="$interrupted"
//
// CHECK-DAG: sample: 1 state=running : spin <- own_code{{$}}
// CHECK-DAG: sample: 1 state=running : spin <- compare <- {{.*}}qsort{{.*}} <- in_libc{{$}}
// CHECK-DAG: sample: 1 state=running : spin <- handler <- {{.*}}[[INTERRUPTED]]{{$}}
// CHECK-DAG: sample: 1 state=running : main{{$}}
// CHECK-NOT: unread

#include "waited.h"

#include <signal.h>

static int running, may_end, caught;

__attribute__((noinline)) static void spin(void) {
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    ;
}

__attribute__((noinline)) static void *own_code(void *arg) {
  spin();
  __asm__ volatile("" ::: "memory");
  return arg;
}

static int compare(const void *a, const void *b) {
  spin();
  return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void *in_libc(void *arg) {
  int v[2] = {2, 1};
  qsort(v, 2, sizeof(v[0]), compare);
  NEED(v[0] == 1);
  return arg;
}

static void handler(int sig) {
  spin();
  NEED(sig == SIGUSR1);
}
__attribute__((noinline)) static void interrupted(void) {
  NEED(raise(SIGUSR1) == 0);
}
__attribute__((noinline)) static void *in_handler(void *arg) {
  static char alternate[65536];
  const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  NEED(sigaltstack(&other, NULL) == 0);
  interrupted();
  return arg;
}

static void on_own(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)context;
  NEED(info->si_value.sival_int == 42);
  __atomic_add_fetch(&caught, 1, __ATOMIC_RELAXED);
}

static void *send(void *arg) {
  union sigval v = {.sival_int = 42};
  for (int i = 0; i < 1000; i++)
    NEED(sigqueue(getpid(), 60, v) == 0);
  return arg;
}

int main(int argc, char **argv) {
  (void)argv;
  struct sigaction own, now;
  memset(&own, 0, sizeof(own));
  own.sa_sigaction = on_own;
  own.sa_flags = SA_SIGINFO | SA_RESTART;
  if (argc > 1)
    NEED(sigaction(60, &own, NULL) == 0);
  struct sigaction usr1;
  memset(&usr1, 0, sizeof(usr1));
  usr1.sa_handler = handler;
  usr1.sa_flags = SA_ONSTACK;
  NEED(sigaction(SIGUSR1, &usr1, NULL) == 0);
  pthread_t t[3], sender;
  NEED(pthread_create(&t[0], NULL, own_code, NULL) == 0);
  NEED(pthread_create(&t[1], NULL, in_libc, NULL) == 0);
  NEED(pthread_create(&t[2], NULL, in_handler, NULL) == 0);
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) != 3)
    usleep(1000);
  if (argc > 1)
    NEED(pthread_create(&sender, NULL, send, NULL) == 0);
  for (int i = 0; i < 20 && argc > 1; i++) {
    struct mprof_stack_record r[10];
    size_t n;
    NEED(mprof_thread_profile(r, 10, &n) == 0 && n >= 4);
  }
  if (argc > 1) {
    NEED(pthread_join(sender, NULL) == 0);
    NEED(caught == 1000);
  }
  NEED(mprof_write_profile("threads", "threads.pb.gz", 0) == 0);
  NEED(sigaction(60, NULL, &now) == 0);
  NEED(argc > 1 ? now.sa_sigaction == on_own : now.sa_handler == SIG_DFL);
  NEED(sigaction(50, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
  may_end = 1;
  for (int i = 0; i < 3; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}
