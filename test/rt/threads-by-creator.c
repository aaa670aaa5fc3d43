// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threadcreate profile counts threads by the stack that created
// them, for pthread_create and thrd_create, attached and detached, also after
// the threads have ended. A failed creation is not counted. A stack in the new
// thread has no frame of MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet ./app
// RUN: %run_quiet{threadcreate=0} ./app none
// RUN: %mprof_read --symbolize threads.pb.gz | FileCheck %s
// RUN: %mprof_read --symbolize heap.pb.gz | FileCheck %s --check-prefix=HEAP
// RUN: %mprof top threads.pb.gz | grep -F ' [unknown creator]'
// RUN: %mprof top threads.pb.gz | grep '^threadcreate of .*, of which 101 live,'
// RUN: %mprof_read --symbolize ended.pb.gz | FileCheck %s --check-prefix=ENDED
//
// A thread inherits the name of its creator, and may then set another name.
// CHECK: sample: 50 thread=first : fifty <- main{{$}}
// CHECK: sample: 40 thread=first : forty <- main{{$}}
// CHECK-DAG: sample: 1 thread=first : [unknown creator]{{$}}
// CHECK-DAG: sample: 1 thread=worker0 : ten <- main{{$}}
// CHECK-DAG: sample: 1 thread=worker9 : ten <- main{{$}}
//
// ENDED-DAG: sample: 50 : fifty <- main{{$}}
// ENDED-DAG: sample: 1 thread=first : [unknown creator]{{$}}
//
// HEAP: : allocate <- worker{{( <- (start_thread|clone|__clone|clone3))*$}}
// HEAP-NOT: sample:

#include "waited.h"

#include <sys/prctl.h>
#include <threads.h>

enum { FIFTY = 50, FORTY = 40, TEN = 10, ALL = FIFTY + FORTY + TEN };

static pthread_t threads[ALL];
static thrd_t c11[TEN];
static int running, may_end;
static void *volatile sink;

__attribute__((noinline)) static void allocate(void) { sink = malloc(100003); }

static void until_all_may_end(void) {
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    usleep(1000);
}
__attribute__((noinline)) static void *worker(void *arg) {
  allocate();
  __asm__ volatile("" ::: "memory");
  until_all_may_end();
  return arg;
}
static int c11_worker(void *arg) {
  char name[16];
  snprintf(name, sizeof(name), "worker%d", (int)(intptr_t)arg);
  prctl(PR_SET_NAME, name);
  until_all_may_end();
  return 7;
}

OWN_CODE(fifty) static void fifty(void) {
  for (int i = 0; i < FIFTY; i++)
    NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
}
OWN_CODE(forty) static void forty(void) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < FORTY; i++)
    NEED(pthread_create(&threads[FIFTY + i], &attr, worker, NULL) == 0);
  pthread_attr_destroy(&attr);
}
OWN_CODE(ten) static void ten(void) {
  for (int i = 0; i < TEN; i++)
    NEED(thrd_create(&c11[i], c11_worker, (void *)(intptr_t)i) == thrd_success);
}
// The requested stack is too large to be mapped.
OWN_CODE(failing) static void failing(void) {
  pthread_t t;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  NEED(pthread_attr_setstacksize(&attr, (size_t)1 << 52) == 0);
  for (int i = 0; i < 3; i++)
    NEED(pthread_create(&t, &attr, worker, NULL) == EAGAIN);
  pthread_attr_destroy(&attr);
}
DECLARE_CODE(fifty);
DECLARE_CODE(forty);
DECLARE_CODE(ten);
DECLARE_CODE(failing);

static int count(const struct code *c) {
  static struct mprof_stack_record r[1000];
  size_t n;
  int found = 0;
  NEED(mprof_thread_create_profile(r, 1000, &n) == 0);
  for (size_t i = 0; i < n; i++)
    if (c == NULL ? r[i].stack0[0] == 0 : is_in(c, r[i].stack0[0]))
      found++;
  return found;
}

static void check(int n50, int n40, int n10, int others) {
  const struct code c[] = {CODE(fifty), CODE(forty), CODE(ten), CODE(failing)};
  const int expected[] = {n50, n40, n10, 0};
  for (int i = 0; i < 4; i++) {
    int n = count(&c[i]);
    if (n == expected[i])
      continue;
    fprintf(stderr, "%s: %d, expected %d\n", c[i].name, n, expected[i]);
    exit(1);
  }
  NEED(count(NULL) == others);
}

int main(int argc, char **argv) {
  prctl(PR_SET_NAME, "first");
  int none = argc > 1 && strcmp(argv[1], "none") == 0;
  mprof_set_heap_rate(1);
  fifty();
  forty();
  ten();
  failing();
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) != ALL)
    usleep(1000);
  if (!none)
    check(FIFTY, FORTY, TEN, 1);
  else
    NEED(count(NULL) >= 1);
  if (argc == 1) {
    NEED(mprof_write_profile("threadcreate", "threads.pb.gz", 0) == 0);
    NEED(mprof_write_profile("heap", "heap.pb.gz", 0) == 0);
  }
  may_end = 1;
  for (int i = 0; i < FIFTY; i++)
    NEED(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < TEN; i++) {
    int result;
    NEED(thrd_join(c11[i], &result) == thrd_success && result == 7);
  }
  if (!none)
    check(FIFTY, FORTY, TEN, 1);
  if (argc == 1)
    NEED(mprof_write_profile("threadcreate", "ended.pb.gz", 0) == 0);
  return 0;
}
