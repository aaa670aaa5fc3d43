// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the wall profile has each thread, running or waiting, with the state
// as a label: what the thread waits for, or that it runs. A wait for a lock or
// a condition also has the name of the lock. The labels of a thread select its
// samples. `mprof top --by` adds up by the values of a label. The report names
// the states. A thread in uninstrumented code has the kind of its system call.
// The file of the option persist has the same samples.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -DUNINSTRUMENTED %s -c -o other.o
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -c -o main.o
// RUN: %mprof_clang -fmprof main.o other.o -lpthread -o app
// RUN: %run{wall_rate=50:log_path=out:persist=kept:persist_keep=1:follow_fork=0} \
// RUN:   ./app
// RUN: %mprof_read --symbolize out.*.wall.pb.gz > samples
// RUN: for s in "mutex in_mutex" "cond in_cond" "rwlock in_rwlock" "sem in_sem" \
// RUN:   "join in_join" "io in_read" "net in_recv" "poll in_poll" \
// RUN:   "sleep in_sleep" "child in_wait" "running in_loop" "ipc in_sigwait"; do \
// RUN:   set -- $s && grep "state=$1[ :].*$2" samples || exit 1; done
// RUN: grep 'state=mutex lock=' samples && grep 'state=cond lock=' samples
// RUN: grep 'state=poll' samples | grep -v in_poll
//
// RUN: %mprof top --by=state out.*.wall.pb.gz | FileCheck %s
// CHECK: wall of ./app
// CHECK-NEXT: {{^ *}}wall  share  state
// CHECK-DAG: {{^}}{{.*}} %  mutex
// CHECK-DAG: {{^}}{{.*}} %  running
// RUN: %mprof top --by=lock --label=customer=acme out.*.wall.pb.gz > acme
// RUN: grep ' %  queue (0x' acme && not grep 'filled' acme
// RUN: %mprof top --by=state --label=customer=acme --format=csv out.*.wall.pb.gz \
// RUN:   > states && grep -c nanoseconds states | grep -x 1
// RUN: grep '^[0-9]*,"nanoseconds","mutex"$' states
// RUN: %mprof top --sample=cpu --by=state out.*.wall.pb.gz | grep ' 100 %  running'
// RUN: not %mprof top --by=colour out.*.wall.pb.gz 2>&1 | \
// RUN:   grep 'no sample has the label colour'
//
// RUN: %mprof recover kept -o again && %mprof top --by=state again.wall.pb.gz > it
// RUN: for s in mutex cond net sleep; do grep " $s\$" it || exit 1; done
//
// RUN: FileCheck %s --check-prefix=REPORT < out.*.txt
// REPORT: What all threads did (wall profile)
// REPORT: Rate:      50 samples of each thread per second
// REPORT: Total:     {{.*}} samples, {{.*}} stacks
// REPORT-NEXT: Processor: {{.*}}s
// REPORT-NEXT: States:    {{.*}}mutex {{.*}}s
// REPORT: SUMMARY: MProf: wall: {{[0-9]+}} samples, {{[0-9]+}} ns, {{[0-9]+}} stacks, rate 50

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>

void *in_other(void *arg);

#ifdef UNINSTRUMENTED
void *in_other(void *arg) {
  poll(NULL, 0, -1);
  return arg;
}
#else

#include "wall_profile.h"

#include <mprof/mprof.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t sleeper;
static sem_t sem;
static int ends[2], sockets[2];
static pid_t child;

static void *in_mutex(void *arg) {
  const char *const labels[] = {"customer", "acme", NULL};
  mprof_labels_add(labels);
  pthread_mutex_lock(&queue);
  return arg;
}
static void *in_cond(void *arg) {
  pthread_mutex_lock(&other);
  for (;;)
    pthread_cond_wait(&filled, &other);
  return arg;
}
static void *in_rwlock(void *arg) {
  pthread_rwlock_rdlock(&table);
  return arg;
}
static void *in_sem(void *arg) {
  sem_wait(&sem);
  return arg;
}
static void *in_join(void *arg) {
  pthread_join(sleeper, NULL);
  return arg;
}
static void *in_read(void *arg) {
  char c;
  CHECK_EQ(read(ends[0], &c, 1), 1);
  return arg;
}
static void *in_recv(void *arg) {
  char c;
  CHECK_EQ(recv(sockets[0], &c, 1, 0), 1);
  return arg;
}
static void *in_poll(void *arg) {
  poll(NULL, 0, -1);
  return arg;
}
static void *in_sleep(void *arg) {
  for (;;)
    sleep(1000);
  return arg;
}
static void *in_wait(void *arg) {
  waitpid(child, NULL, 0);
  return arg;
}
static void *in_sigwait(void *arg) {
  int sig;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  sigwait(&set, &sig);
  return arg;
}
static void *in_loop(void *arg) {
  for (atomic_int n = 0;;)
    n++;
  return arg;
}

static void *(*const functions[])(void *) = {
    in_sleep, in_mutex, in_cond, in_rwlock, in_sem,     in_join, in_read,
    in_recv,  in_poll,  in_wait, in_other,  in_sigwait, in_loop};
enum { THREADS = sizeof functions / sizeof *functions };

int main(void) {
  pthread_t t;
  CHECK(pipe(ends) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  pthread_mutex_lock(&queue);
  pthread_rwlock_wrlock(&table);
  child = fork();
  if (child == 0) {
    char c;
    close(ends[1]); // the end of the parent ends the child
    _exit(read(ends[0], &c, 1) != 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&t, NULL, functions[i], NULL);
    if (i == 0)
      sleeper = t;
  }
  // All threads are in each round once they wait.
  const long begun = wall_samples();
  while (wall_samples() < begun + 20 * THREADS)
    usleep(10000);
  kill(child, SIGKILL);
  return 0;
}
#endif
