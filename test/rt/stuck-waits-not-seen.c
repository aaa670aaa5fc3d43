// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without the option stuck, MProf has not recorded waits for semaphores
// and conditions that began before the first request. The threads in such waits
// are never reported as stuck. Each form of output gives the number of these
// threads and names the option that records their waits. The stacks of all
// threads show the functions in which they wait. With the option, all waits of
// instrumented code are recorded. If a wait was not recorded because its code
// is not instrumented, the output says so.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app
// RUN: FileCheck %s --check-prefix=EARLY < 2.txt
// RUN: FileCheck %s --check-prefix=EARLY < 1.txt
// RUN: %mprof_read 0.pb.gz | FileCheck %s --check-prefix=EARLY
// RUN: %if !emulated %{ FileCheck %s --check-prefix=THREADS < threads.txt %}
// RUN: %if !emulated %{ %mprof_read --symbolize threads.pb.gz | \
// RUN:   FileCheck %s --check-prefix=PPROF %}
// RUN: %run_quiet{stuck=1} timeout 600 ./app
// RUN: FileCheck %s --check-prefix=SEEN < 2.txt
// RUN: %mprof_clang -fmprof=heap -O1 -g1 -I%src/test/Inputs %s -o heap
// RUN: %run_quiet{stuck=1} timeout 600 ./heap
// RUN: FileCheck %s --check-prefix=CODE < 2.txt
//
// EARLY: 2 threads sleep in futex(2). The wait was not recorded, because it began before the first request for a profile of all threads, or in uninstrumented code: set the option stuck=1{{$}}
//
// The names of waits that were not recorded come from registers that the kernel
// reports, which are those of the emulator if there is one.
// THREADS: "app" [running]:
// THREADS-COUNT-2: "app" [sem_wait]:
// THREADS-NOT: [
// PPROF-DAG: sample: 1 state=waiting kind=sem : sem_wait <- on_a{{$}}
// PPROF-DAG: sample: 1 state=waiting kind=sem : sem_wait <- on_b{{$}}
//
// SEEN-NOT: was not recorded
// SEEN: SUMMARY: MProf: threadleak: 0 threads
//
// CODE: 2 threads sleep in futex(2). The wait was not recorded, because it began in uninstrumented code{{$}}
// CODE: SUMMARY: MProf: threadleak: 0 threads

#include "waited.h"

#include <semaphore.h>

static sem_t a, b;
static pid_t tids[2];

static void *on_a(void *arg) {
  about_to_wait(&tids[0]);
  sem_wait(&a);
  return arg;
}
static void *on_b(void *arg) {
  about_to_wait(&tids[1]);
  sem_wait(&b);
  return arg;
}

int main(void) {
  pthread_t thread;
  NEED(sem_init(&a, 0, 0) == 0);
  NEED(sem_init(&b, 0, 0) == 0);
  NEED(pthread_create(&thread, NULL, on_a, NULL) == 0);
  NEED(pthread_create(&thread, NULL, on_b, NULL) == 0);
  until_waits_in(&tids[0], SYS_futex);
  until_waits_in(&tids[1], SYS_futex);
  NEED(mprof_write_profile("threadleak", "2.txt", 2) == 0);
  NEED(mprof_write_profile("threadleak", "1.txt", 1) == 0);
  NEED(mprof_write_profile("threadleak", "0.pb.gz", 0) == 0);
  NEED(mprof_write_profile("threads", "threads.txt", 2) == 0);
  NEED(mprof_write_profile("threads", "threads.pb.gz", 0) == 0);
  return 0;
}
