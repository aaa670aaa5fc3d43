// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: eight threads are stuck. Three pairs took two locks in different
// orders. One thread wants the mutex of an ended thread, and one waits for a
// condition that nobody can reach. Each request reports these eight, even if
// several threads request at once. The report calls each stuck thread certain
// or likely and names the lock and its holder. A thread at a condition that all
// threads can reach is not stuck. The threads profile has all threads. The
// message at exit has the number of certain and of likely ones. (Go:
// TestGoroutineLeakProfileConcurrency)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{stuck=1:log_path=x.%%p} timeout 600 ./app 2> err.txt
// RUN: grep 'wrote .*threadleak\(.pb.gz\)\? (8 stuck threads: 7 certain, 1 likely)' err.txt
// RUN: %mprof_read --symbolize leak.pb.gz | FileCheck %s
// RUN: %mprof_read --symbolize x.*.threadleak.pb.gz | FileCheck %s
// RUN: FileCheck %s --check-prefix=LEGACY < leak.txt
// RUN: FileCheck %s --check-prefix=REPORT < report.txt
// RUN: FileCheck %s --check-prefix=REPORT < x.*[0-9].txt
//
// CHECK: sample_types: threadleak/count
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- a_then_b{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- a_then_b{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- a_then_b{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- b_then_a{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- b_then_a{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=0x{{[0-9a-f]+}} holder=thread {{[0-9]+}} thread={{[0-9]+}} : pthread_mutex_lock <- take_second <- b_then_a{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=mutex grade=certain lock=orphan (0x{{[0-9a-f]+}}) holder=thread {{[0-9]+}} : pthread_mutex_lock <- want_orphan{{$}}
// CHECK-DAG: sample: 1 state=waiting kind=cond grade=likely lock=0x{{[0-9a-f]+}} : pthread_cond_wait <- wait_at_gate <- gate{{$}}
// CHECK-NOT: wait_for_all
//
// LEGACY: goroutineleak profile: total 8
// LEGACY-DAG: # likely
// LEGACY-DAG: {{^}}# lock orphan (0x{{[0-9a-f]+}}){{$}}
// LEGACY-DAG: wait_at_gate {{.*}}stuck-threads.c:
//
// REPORT: Total:     8 threads, 7 certain, 1 likely
// REPORT: Cycle {{[1-3]}} of 3: 2 threads wait for one another
// REPORT: thread {{[0-9]+}} "left", certain
// REPORT-NEXT: has waited {{.*}} for mutex 0x{{[0-9a-f]+}}, held by thread {{[0-9]+$}}
// REPORT-NEXT: in pthread_mutex_lock
// REPORT-NEXT: in take_second {{.*}}stuck-threads.c:
// REPORT-NEXT: in a_then_b {{.*}}stuck-threads.c:
// REPORT-NEXT: holds mutex {{.*}}, taken {{.*}} ago
// REPORT-NEXT: in take_first {{.*}}stuck-threads.c:
// REPORT-NEXT: in a_then_b {{.*}}stuck-threads.c:
// REPORT: These threads wait for a lock whose owner has ended
// REPORT: for mutex orphan (0x{{[0-9a-f]+}}), held by a thread that has ended,
// REPORT: No thread that can still run reaches the objects that these threads wait for
// REPORT: thread {{[0-9]+}} "gate", likely
// REPORT-NEXT: for condition 0x
// REPORT: SUMMARY: MProf: threadleak: 8 threads, 7 certain, 1 likely, 3 cycles

#include "waited.h"

#include <stdlib.h>
#include <sys/prctl.h>

enum { PAIRS = 3, STUCK = 2 * PAIRS + 2, ASKING = 4, MAX = 64 };

static struct pair {
  pthread_mutex_t a, b;
  pthread_barrier_t both;
} pairs[PAIRS];

__attribute__((noinline)) static void take_first(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void take_second(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void *a_then_b(void *arg) {
  struct pair *p = arg;
  prctl(PR_SET_NAME, "left");
  take_first(&p->a);
  pthread_barrier_wait(&p->both);
  take_second(&p->b);
  return arg;
}
__attribute__((noinline)) static void *b_then_a(void *arg) {
  struct pair *p = arg;
  prctl(PR_SET_NAME, "right");
  take_first(&p->b);
  pthread_barrier_wait(&p->both);
  take_second(&p->a);
  return arg;
}

static pthread_mutex_t orphan = PTHREAD_MUTEX_INITIALIZER;

static void *take_and_leave(void *arg) {
  pthread_mutex_lock(&orphan);
  return arg;
}
__attribute__((noinline)) static void *want_orphan(void *arg) {
  pthread_mutex_lock(&orphan);
  __asm__ volatile("" ::: "memory");
  return arg;
}

struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t opens;
  int is_open;
};

__attribute__((noinline)) static void wait_at_gate(struct gate *g) {
  pthread_mutex_lock(&g->mutex);
  while (!g->is_open)
    pthread_cond_wait(&g->opens, &g->mutex);
  __asm__ volatile("" ::: "memory");
}
static void *gate(void *arg) {
  prctl(PR_SET_NAME, "gate");
  wait_at_gate(arg);
  return arg;
}

static struct gate common = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                             .opens = PTHREAD_COND_INITIALIZER};

static void *wait_for_all(void *arg) {
  wait_at_gate(&common);
  return arg;
}

static void begin(void *(*fn)(void *), void *arg) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, fn, arg) == 0);
}

__attribute__((noinline)) static void begin_all(void) {
  for (int i = 0; i < PAIRS; i++) {
    pthread_mutex_init(&pairs[i].a, NULL);
    pthread_mutex_init(&pairs[i].b, NULL);
    pthread_barrier_init(&pairs[i].both, NULL, 2);
    begin(a_then_b, &pairs[i]);
    begin(b_then_a, &pairs[i]);
  }
  pthread_t t;
  NEED(pthread_create(&t, NULL, take_and_leave, NULL) == 0);
  NEED(pthread_join(t, NULL) == 0);
  NEED(mprof_name_lock(&orphan, "orphan") == 0);
  begin(want_orphan, NULL);
  struct gate *g = calloc(1, sizeof(*g));
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->opens, NULL);
  begin(gate, g);
  begin(wait_for_all, NULL);
}

// Overwrites what the calls above left on the stack.
__attribute__((noinline)) static void forget(void) {
  volatile char old[16384];
  for (size_t i = 0; i < sizeof(old); i++)
    old[i] = 0;
}

static size_t count(void) {
  // The records are not on the stack, because they would leave addresses there.
  static _Thread_local struct mprof_stack_record records[MAX];
  size_t n;
  NEED(mprof_thread_leak_profile(records, MAX, &n) == 0);
  return n;
}

static void *ask(void *arg) {
  for (int i = 0; i < 3; i++)
    NEED(count() == STUCK);
  return arg;
}

int main(void) {
  static struct mprof_stack_record all[MAX];
  pthread_t asking[ASKING];
  begin_all();
  forget();
  for (int i = 0; i < 12000 && count() < STUCK; i++)
    usleep(10000);
  NEED(count() == STUCK && count() == STUCK);
  for (int i = 0; i < ASKING; i++)
    NEED(pthread_create(&asking[i], NULL, ask, NULL) == 0);
  for (int i = 0; i < ASKING; i++)
    NEED(pthread_join(asking[i], NULL) == 0);
  size_t n;
  NEED(mprof_thread_leak_profile(all, 1, &n) == ERANGE && n == STUCK);
  NEED(mprof_write_profile("threadleak", "leak.pb.gz", 0) == 0);
  NEED(mprof_write_profile("goroutineleak", "leak.txt", 1) == 0);
  NEED(mprof_write_profile("threadleak", "report.txt", 2) == 0);
  NEED(mprof_thread_profile(all, MAX, &n) == 0 && n == STUCK + 2);
  return 0;
}
