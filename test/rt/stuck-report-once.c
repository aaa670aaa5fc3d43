// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with stuck_report=1 a process with deadlocked threads reports them
// once, in a file and on stderr, while it runs. So does its forked child. The
// thread that looks is in no profile and gets no signal of the program. The
// labels of the threads are in the file and in the profile threadleak.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck_report=1:log_path=x.%%p} timeout 60 ./app 2> err.txt
// RUN: FileCheck %s < err.txt
// RUN: cat x.*.stuck.txt | FileCheck %s --check-prefix=FILE
// RUN: ls x.*.stuck.txt | wc -l | FileCheck %s --check-prefix=TWO
//
// CHECK-COUNT-2: mprof: 2 threads are stuck (2 certain, 0 likely): wrote x.{{[0-9]+}}.stuck.txt
// CHECK-NOT: are stuck
// FILE-COUNT-2: Cycle 1 of 1: 2 threads wait for one another
// FILE-NOT: Cycle
// TWO: {{^}}2{{$}}
// RUN: cat x.*.stuck.txt | FileCheck %s --check-prefix=LABELS
// LABELS-COUNT-2: {{^}}    labels {"customer":"acme"}{{$}}
// RUN: %mprof_read --symbolize leak.pb.gz | FileCheck %s --check-prefix=PROFILE
// PROFILE-DAG: grade=certain lock=0x{{[0-9a-f]+}} customer=acme : pthread_mutex_lock <- a_then_b
// PROFILE-DAG: grade=certain lock=0x{{[0-9a-f]+}} : pthread_mutex_lock <- b_then_a

#include "waited.h"

#include <glob.h>
#include <signal.h>
#include <sys/wait.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *a_then_b(void *arg) {
  mprof_label_set("customer", "acme");
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&b);
  return arg;
}
static void *b_then_a(void *arg) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&a);
  return arg;
}

static pid_t hit;
static void on_signal(int sig) {
  (void)sig;
  hit = own_tid();
}

static void until_reported(void) {
  char pattern[64];
  glob_t found;
  snprintf(pattern, sizeof(pattern), "x.%d.stuck.txt", (int)getpid());
  int error = GLOB_NOMATCH;
  for (int i = 0; i < 3000 && error != 0; i++) {
    usleep(10000);
    error = glob(pattern, 0, NULL, &found);
  }
  NEED(error == 0);
}

static void deadlock(void) {
  pthread_t t;
  NEED(pthread_barrier_init(&both, NULL, 2) == 0);
  NEED(pthread_create(&t, NULL, a_then_b, NULL) == 0);
  NEED(pthread_create(&t, NULL, b_then_a, NULL) == 0);
  until_reported();
  struct mprof_stack_record records[16];
  size_t n;
  NEED(mprof_thread_profile(records, 16, &n) == 0 && n == 3);
  NEED(mprof_write_profile("threadleak", "leak.pb.gz", 0) == 0);
  kill(getpid(), SIGUSR1);
  NEED(hit == own_tid());
  usleep(500000); // time for a second report
}

int main(void) {
  signal(SIGUSR1, on_signal);
  pid_t child = fork();
  deadlock();
  if (child == 0)
    _exit(0);
  int status;
  NEED(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
