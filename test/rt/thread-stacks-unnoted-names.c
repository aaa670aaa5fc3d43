// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: by default, MProf records waits only from the first threads profile
// on. This first profile nevertheless names the function of each wait that
// began earlier. The same holds in static programs, without optimization, and
// for calls that are not instrumented.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: list=CHECK,%if x86_64 %{AMD%} %else %{ARM%}
// RUN: %if emulated %{ list=EMULATED %}
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app
// RUN: FileCheck %s --check-prefixes=$list < list.txt
// RUN: %if !emulated %{ %mprof_read --symbolize threads.pb.gz | \
// RUN:   FileCheck %s --check-prefix=PPROF %}
// RUN: %mprof_clang -fmprof -static -O1 -g1 -I%src/test/Inputs %s -o static
// RUN: %run_quiet timeout 600 ./static
// RUN: FileCheck %s --check-prefixes=$list < list.txt
// RUN: %mprof_clang -fmprof -O0 -g1 -I%src/test/Inputs %s -o app0
// RUN: %run_quiet timeout 600 ./app0
// RUN: FileCheck %s --check-prefixes=$list < list.txt
// RUN: %mprof_clang -fmprof -static -O0 -g1 -I%src/test/Inputs %s -o static0
// RUN: %run_quiet timeout 600 ./static0
// RUN: FileCheck %s --check-prefixes=$list < list.txt
// RUN: %mprof_clang -fmprof=heap -O1 -g1 -I%src/test/Inputs %s -o heap
// RUN: %run_quiet timeout 600 ./heap
// RUN: FileCheck %s --check-prefixes=$list < list.txt
//
// CHECK-DAG: "semaphore" [sem_wait]:{{$}}
// CHECK-DAG: "mutex" [pthread_mutex_lock]:{{$}}
// CHECK-DAG: "reader" [pthread_rwlock_rdlock]:{{$}}
// CHECK-DAG: "writer" [pthread_rwlock_wrlock]:{{$}}
// CHECK-DAG: "condition" [pthread_cond_wait]:{{$}}
// CHECK-DAG: "barrier" [pthread_barrier_wait]:{{$}}
// CHECK-DAG: "join" [pthread_join]:{{$}}
// AMD-DAG: "nap" [usleep, not read: state S, system call 230]:{{$}}
// ARM-DAG: "nap" [usleep, not read: state S, system call 115]:{{$}}
//
// The kernel reports the registers of an emulator, which do not tell the name.
// EMULATED-DAG: "semaphore" [futex wait, not recorded]:{{$}}
// EMULATED-DAG: {{^}}on_semaphore{{$}}
// EMULATED-DAG: "mutex" [futex wait, not recorded]:{{$}}
// EMULATED-DAG: {{^}}on_mutex{{$}}
// EMULATED-DAG: "join" [futex wait, not recorded]:{{$}}
// EMULATED-DAG: {{^}}on_join{{$}}
// EMULATED-DAG: "nap" [not read: state S]:{{$}}
//
// PPROF-DAG: sample: 1 state=waiting kind=sem : sem_wait <- on_semaphore{{$}}
// PPROF-DAG: sample: 1 state=waiting kind=mutex : pthread_mutex_lock <- on_mutex{{$}}
// PPROF-DAG: sample: 1 state=waiting kind=join : pthread_join <- on_join{{$}}
// PPROF-DAG: sample: 1 state=unread : usleep <- on_nap <- [truncated]{{$}}

#include "waited.h"

#include <semaphore.h>
#include <sys/prctl.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_t threads[8];
static pid_t tids[8];

static void begin(const char *name, void *number) {
  prctl(PR_SET_NAME, name);
  about_to_wait(&tids[(uintptr_t)number]);
}

static void *on_semaphore(void *number) {
  begin("semaphore", number);
  sem_wait(&semaphore);
  return number;
}
static void *on_mutex(void *number) {
  begin("mutex", number);
  pthread_mutex_lock(&mutex);
  return number;
}
static void *on_read(void *number) {
  begin("reader", number);
  pthread_rwlock_rdlock(&rwlock);
  return number;
}
static void *on_write(void *number) {
  begin("writer", number);
  pthread_rwlock_wrlock(&rwlock);
  return number;
}
static void *on_condition(void *number) {
  begin("condition", number);
  pthread_mutex_lock(&free_mutex);
  pthread_cond_wait(&condition, &free_mutex);
  return number;
}
static void *on_barrier(void *number) {
  begin("barrier", number);
  pthread_barrier_wait(&barrier);
  return number;
}
static void *on_join(void *number) {
  begin("join", number);
  pthread_join(threads[0], NULL);
  return number;
}
static void *on_nap(void *number) {
  begin("nap", number);
  usleep(100000000);
  return number;
}

int main(void) {
  static void *(*const functions[])(void *) = {
      on_semaphore, on_mutex,   on_read, on_write,
      on_condition, on_barrier, on_join, on_nap};
  NEED(sem_init(&semaphore, 0, 0) == 0);
  NEED(pthread_barrier_init(&barrier, NULL, 2) == 0);
  NEED(pthread_mutex_lock(&mutex) == 0);
  NEED(pthread_rwlock_wrlock(&rwlock) == 0);
  for (uintptr_t i = 0; i < 8; i++) {
    NEED(pthread_create(&threads[i], NULL, functions[i], (void *)i) == 0);
    until_waits_in(&tids[i], i < 7 ? SYS_futex : SYS_clock_nanosleep);
  }
  NEED(mprof_write_profile("threads", "list.txt", 2) == 0);
  NEED(mprof_write_profile("threads", "threads.pb.gz", 0) == 0);
  return 0;
}
