// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the signal by which the threads profile gets stacks is not sent to a
// thread that blocks this signal. Neither is it sent to a thread in an
// uninstrumented call that would end with EINTR. The profile marks such a
// thread as not read and shows the thread's state as the kernel reports it. No
// signal is pending when the thread unblocks the signal.
//
// RUN: list=LIST,%if x86_64 %{AMD%} %else %{ARM%}
// RUN: %if emulated %{ list=LIST,EMULATED %}
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -DOTHER_CODE -c %s -o other.o
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s other.o -o app
// RUN: %run_quiet{threads=1} ./app
// RUN: %mprof_read --symbolize threads.pb.gz | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < threads.txt
// RUN: FileCheck %s --check-prefixes=$list < list.txt
// RUN: %run_quiet{threads_stop=1} ./app
// RUN: FileCheck %s --check-prefixes=$list < list.txt
//
// CHECK-DAG: sample: {{[13]}} state=unread : {{.*}}[truncated]
// CHECK-DAG: sample: 1 state=running : main
//
// TEXT: threads profile: total 4
// TEXT: # not read
// TEXT-NEXT: {{[13]}} @ 0x
//
// LIST-DAG: thread {{[0-9]+}} "deaf" [not read: state R]:
//
// AMD-DAG: thread {{[0-9]+}} "polls" [poll, not read: state S, system call 7]:
// AMD-DAG: thread {{[0-9]+}} "pauses" [pause, not read: state S, system call 34]:
//
// ARM-DAG: thread {{[0-9]+}} "polls" [poll, not read: state S, system call 73]:
// ARM-DAG: thread {{[0-9]+}} "pauses" [pause, not read: state S, system call 73]:
//
// The kernel reports the registers and the system call of an emulator.
// EMULATED-DAG: thread {{[0-9]+}} "polls" [not read: state S]:
// EMULATED-DAG: thread {{[0-9]+}} "pauses" [not read: state S]:

#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

int poll_long(int fd);
int pause_once(void);

#ifdef OTHER_CODE

int poll_long(int fd) {
  struct pollfd f = {fd, POLLIN, 0};
  return poll(&f, 1, 60000);
}
int pause_once(void) { return pause(); }

#else

#include "waited.h"

#include <signal.h>
#include <sys/prctl.h>

static int running, may_end, ends[2];
static pid_t tids[2];

static void *deaf(void *arg) {
  sigset_t all;
  sigfillset(&all);
  NEED(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
  prctl(PR_SET_NAME, "deaf");
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    ;
  sigdelset(&all, 60);
  NEED(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
  usleep(1000);
  return arg;
}

static void *polls(void *arg) {
  prctl(PR_SET_NAME, "polls");
  about_to_wait(&tids[0]);
  NEED(poll_long(ends[0]) == 1);
  return arg;
}

static void *pauses(void *arg) {
  prctl(PR_SET_NAME, "pauses");
  about_to_wait(&tids[1]);
  NEED(pause_once() == -1 && errno == EINTR);
  NEED(__atomic_load_n(&may_end, __ATOMIC_RELAXED)); // not earlier
  return arg;
}

static void nothing(int sig) { (void)sig; }

int main(void) {
  pthread_t t[3];
  signal(SIGUSR1, nothing);
  NEED(pipe(ends) == 0);
  NEED(pthread_create(&t[0], NULL, deaf, NULL) == 0);
  NEED(pthread_create(&t[1], NULL, polls, NULL) == 0);
  NEED(pthread_create(&t[2], NULL, pauses, NULL) == 0);
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) != 1)
    usleep(1000);
  until_waits_in(&tids[0], SYS_poll);
  until_waits_in(&tids[1], SYS_pause);
  NEED(mprof_write_profile("threads", "list.txt", 2) == 0);
  NEED(mprof_write_profile("threads", "threads.txt", 1) == 0);
  NEED(mprof_write_profile("threads", "threads.pb.gz", 0) == 0);
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  NEED(write(ends[1], "", 1) == 1);
  NEED(pthread_kill(t[2], SIGUSR1) == 0);
  for (int i = 0; i < 3; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}

#endif
