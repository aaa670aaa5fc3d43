// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a process without options, the first request for stuck threads
// finds deadlocks of mutexes and rwlocks, and threads that wait for a lock
// whose owner has ended. All of them are certain. This also holds for a static
// program and for a program whose locks are not instrumented. A later request,
// which stops all threads, finds the same threads. Threads that wait for an
// owner that can run are not reported.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet timeout 600 ./app
// RUN: FileCheck %s < first.txt
// RUN: FileCheck %s < second.txt
// RUN: %mprof_read --symbolize leak.pb.gz | FileCheck %s --check-prefix=PPROF
// RUN: %mprof_clang -fmprof -static -O1 -g1 -I%src/test/Inputs %s -o static
// RUN: %run_quiet timeout 600 ./static
// RUN: FileCheck %s < first.txt
// RUN: %mprof_clang -fmprof=heap -O1 -g1 -I%src/test/Inputs %s -o heap
// RUN: %run_quiet timeout 600 ./heap
// RUN: FileCheck %s < first.txt
// RUN: FileCheck %s < second.txt
//
// CHECK: Total: 9 threads, 9 certain, 0 likely
// CHECK-DAG: Cycle {{[1-4]}} of 4: a thread waits for itself
// CHECK-DAG: Cycle {{[1-4]}} of 4: a thread waits for itself
// CHECK-DAG: Cycle {{[1-4]}} of 4: 2 threads wait for one another
// CHECK-DAG: Cycle {{[1-4]}} of 4: 2 threads wait for one another
// CHECK-DAG: {{^}}thread {{[0-9]+}} "a_then_b", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "b_then_a", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "read_then_write", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "write_then_read", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "twice", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "twice_c11", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "of_ended", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "reads_ended", certain{{$}}
// CHECK-DAG: {{^}}thread {{[0-9]+}} "of_stuck", certain{{$}}
// CHECK-DAG: has waited an unknown time for mutex 0x{{[0-9a-f]+}}, held by the waiting thread itself
// CHECK-DAG: has waited an unknown time for rwlock 0x{{[0-9a-f]+}}, held by a thread that has ended
// CHECK-DAG: #1 0x{{[0-9a-f]+}} in a_then_b {{.*}}stuck-unprepared.c:[[#]]
// CHECK-DAG: holds mutex 0x{{[0-9a-f]+}}; the place where the lock was taken was not recorded: set the option stuck=1
// CHECK: SUMMARY: MProf: threadleak: 9 threads, 9 certain, 0 likely, 4 cycles
//
// PPROF-DAG: grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- a_then_b
// PPROF-DAG: grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_rwlock_wrlock <- read_then_write

#include "waited.h"

#include <sys/prctl.h>
#include <threads.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t left_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static pthread_barrier_t both, others;
enum { THREADS = 13 };
static pid_t tids[THREADS];

#define BEGIN(number)                                                          \
  (prctl(PR_SET_NAME, __func__), about_to_wait(&tids[(uintptr_t)(number)]))

static void *a_then_b(void *number) {
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  BEGIN(number);
  pthread_mutex_lock(&b);
  return number;
}
static void *b_then_a(void *number) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  BEGIN(number);
  pthread_mutex_lock(&a);
  return number;
}
static void *write_then_read(void *number) {
  pthread_rwlock_wrlock(&rw);
  pthread_barrier_wait(&others);
  BEGIN(number);
  pthread_mutex_lock(&guard);
  return number;
}
static void *read_then_write(void *number) {
  pthread_mutex_lock(&guard);
  pthread_barrier_wait(&others);
  BEGIN(number);
  pthread_rwlock_wrlock(&rw);
  return number;
}
static void *twice(void *number) {
  pthread_mutex_lock(&own);
  BEGIN(number);
  pthread_mutex_lock(&own);
  return number;
}
static void *twice_c11(void *number) {
  mtx_lock(&c11);
  BEGIN(number);
  mtx_lock(&c11);
  return number;
}
static void *of_ended(void *number) {
  BEGIN(number);
  pthread_mutex_lock(&left);
  return number;
}
static void *reads_ended(void *number) {
  BEGIN(number);
  pthread_rwlock_rdlock(&left_rw);
  return number;
}
static void *of_stuck(void *number) {
  BEGIN(number);
  pthread_mutex_lock(&a);
  return number;
}
static void *ends(void *arg) {
  pthread_mutex_lock(&left);
  pthread_rwlock_wrlock(&left_rw);
  return arg;
}
// The threads below can run again.
static void *sleeps(void *number) {
  pthread_mutex_lock(&slow);
  BEGIN(number);
  usleep(100000000);
  return number;
}
static void *of_sleeping(void *number) {
  BEGIN(number);
  pthread_mutex_lock(&slow);
  return number;
}
static void *timed(void *number) {
  const struct timespec late = {.tv_sec = 4000000000};
  BEGIN(number);
  pthread_mutex_timedlock(&a, &late);
  return number;
}
static void *worker(void *number) {
  pthread_mutex_lock(&pool);
  BEGIN(number);
  pthread_cond_wait(&work, &pool);
  pthread_mutex_unlock(&pool);
  return number;
}

static void create(void *(*function)(void *), uintptr_t number) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, function, (void *)number) == 0);
}

int main(void) {
  static void *(*const functions[])(void *) = {
      a_then_b,    b_then_a, write_then_read, read_then_write, twice,
      twice_c11,   of_ended, reads_ended,     of_stuck,        sleeps,
      of_sleeping, timed,    worker};
  pthread_t t;
  NEED(mtx_init(&c11, mtx_plain) == thrd_success);
  NEED(pthread_barrier_init(&both, NULL, 2) == 0);
  NEED(pthread_barrier_init(&others, NULL, 2) == 0);
  NEED(pthread_create(&t, NULL, ends, NULL) == 0);
  NEED(pthread_join(t, NULL) == 0);
  for (uintptr_t i = 0; i < THREADS; i++) {
    // The thread b_then_a begins to wait when a_then_b has locked a. Otherwise
    // of_stuck could lock a first, and would not wait.
    if (functions[i] == of_stuck)
      until_waits_in(&tids[1], SYS_futex);
    create(functions[i], i);
    if (functions[i] == sleeps)
      until_waits_in(&tids[i], SYS_clock_nanosleep);
  }
  for (int i = 0; i < THREADS; i++)
    if (functions[i] != sleeps)
      until_waits_in(&tids[i], SYS_futex);
  NEED(mprof_write_profile("threadleak", "first.txt", 2) == 0);
  // The worker notes its next wait, so the next request searches memory.
  pthread_mutex_lock(&pool);
  pthread_cond_signal(&work);
  pthread_mutex_unlock(&pool);
  tids[12] = 0;
  create(worker, 12);
  until_waits_for(&tids[12], &work, sizeof(work));
  NEED(mprof_write_profile("threadleak", "second.txt", 2) == 0);
  NEED(mprof_write_profile("threadleak", "leak.pb.gz", 0) == 0);
  return 0;
}
