// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threads profile counts threads with equal stack and labels
// together, the largest number first (as in Go's TestGoroutineCounts). A
// waiting thread is shown where it waits and is not woken. With threads_stop=1
// the profile is the same. mprof_thread_profile leaves an array that is too
// short untouched.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{threads=1} ./app
// RUN: %mprof_read --symbolize threads.pb.gz | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < threads.txt
// RUN: %mprof_read --symbolize goroutine.pb.gz | FileCheck %s --check-prefix=GO
// RUN: rm threads.*
// RUN: %run_quiet{threads=1:threads_stop=1} ./app
// RUN: %mprof_read --symbolize threads.pb.gz | FileCheck %s
//
// CHECK: sample_types: threads/count
// CHECK: sample: 50 state=waiting kind=cond : pthread_cond_wait <- block <- func3{{$}}
// CHECK-NEXT: sample: 44 state=waiting kind=cond label=value : pthread_cond_wait <- block <- func3{{$}}
// CHECK-NEXT: sample: 40 state=waiting kind=cond : {{.*}} <- func2{{$}}
// CHECK-NEXT: sample: 36 state=waiting kind=cond label=value : {{.*}} <- func2{{$}}
// CHECK-NEXT: sample: 10 state=waiting kind=cond : {{.*}} <- func1{{$}}
// CHECK-NEXT: sample: 9 state=waiting kind=cond label=value : {{.*}} <- func1{{$}}
// CHECK-NEXT: sample: 1 state=running : take <- main{{$}}
// CHECK-NOT: sample:
//
// TEXT: threads profile: total 190
// TEXT-NEXT: 50 @ 0x{{[0-9a-f]+ 0x[0-9a-f]+ 0x.*}}
// TEXT-NEXT: # 0x{{[0-9a-f]+}} pthread_cond_wait
// TEXT-NEXT: # 0x{{[0-9a-f]+}} block {{.*}}thread-stacks-counts.c:
// TEXT-NEXT: # 0x{{[0-9a-f]+}} func3 {{.*}}thread-stacks-counts.c:
// TEXT: {{^}}44 @
// TEXT-NEXT: {{^}}# labels: {"label":"value"}{{$}}
// TEXT-NEXT: # 0x{{[0-9a-f]+}} pthread_cond_wait
// TEXT: {{^}}40 @
// TEXT-NEXT: # 0x
// TEXT: {{^}}36 @
// TEXT-NEXT: {{^}}# labels: {"label":"value"}{{$}}
// TEXT: {{^}}10 @
// TEXT-NEXT: # 0x
// TEXT: {{^}}9 @
// TEXT-NEXT: {{^}}# labels: {"label":"value"}{{$}}
// TEXT: {{^}}1 @
// TEXT-NEXT: # 0x
// TEXT: --- Memory map: ---
//
// GO: sample_types: goroutine/count
// GO: sample: 50 {{.*}} : pthread_cond_wait <- block <- func3
// GO-NEXT: sample: 44 {{.*}} label=value : pthread_cond_wait <- block <- func3

#include "waited.h"

enum { UNLABELLED = 100, LABELLED = 89, ALL = UNLABELLED + LABELLED };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, may_end;
static pid_t tids[ALL];

__attribute__((noinline)) static void *block(void *arg) {
  pthread_mutex_lock(&mutex);
  tids[waiting++] = own_tid();
  while (!may_end)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  __asm__ volatile("" ::: "memory");
  return arg;
}

#define WORKER(name)                                                           \
  OWN_CODE(name) static void *name(void *arg) {                                \
    arg = block(arg);                                                          \
    __asm__ volatile("" ::: "memory");                                         \
    return arg;                                                                \
  }                                                                            \
  DECLARE_CODE(name);
WORKER(func1)
WORKER(func2)
WORKER(func3)

static pthread_t threads[ALL];
static int created;

// Returns how often the waiting threads have been woken so far.
static long count_switches(void) {
  long sum = 0;
  for (int i = 0; i < ALL; i++) {
    char path[64], line[256];
    long n = -1;
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tids[i]);
    FILE *f = fopen(path, "r");
    NEED(f != NULL);
    while (fgets(line, sizeof(line), f) != NULL)
      sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    fclose(f);
    NEED(n >= 0);
    sum += n;
  }
  return sum;
}

static void create(int n) {
  for (int i = 0; i < n; i++)
    NEED(pthread_create(&threads[created++], NULL,
                        i % 10 == 0  ? func1
                        : i % 2 == 0 ? func2
                                     : func3,
                        NULL) == 0);
}

static void create_labelled(void *n) { create(*(const int *)n); }

__attribute__((noinline)) static void take(void) {
  static struct mprof_stack_record r[ALL + 10], poison[ALL + 10];
  const struct code all_func2 = CODE(func2);
  size_t n;
  for (int i = 0; i < ALL; i++) // even the last ones sleep by now
    until_waits_in(&tids[i], SYS_futex);
  const long before = count_switches();
  memset(r, 0xa5, sizeof(r));
  memset(poison, 0xa5, sizeof(poison));
  NEED(mprof_thread_profile(NULL, 0, &n) == ERANGE && n == ALL + 1);
  NEED(mprof_thread_profile(r, ALL, &n) == ERANGE && n == ALL + 1);
  NEED(memcmp(r, poison, sizeof(r)) == 0);
  NEED(mprof_thread_profile(r, ALL + 10, &n) == 0 && n == ALL + 1);
  NEED(memcmp(&r[n], poison, 9 * sizeof(r[0])) == 0);
  int found = 0;
  for (size_t i = 0; i < n; i++) {
    NEED(r[i].stack0[0] != 0 && r[i].stack0[MPROF_RECORD_STACK - 1] == 0);
    found += is_in(&all_func2, r[i].stack0[2]);
  }
  NEED(found == 40 + 36);
  // The stack of the caller comes first.
  NEED(r[0].stack0[0] > (uintptr_t)take &&
       r[0].stack0[0] < (uintptr_t)take + 4096);
  NEED(mprof_write_profile("threads", "threads.pb.gz", 0) == 0);
  NEED(mprof_write_profile("threads", "threads.txt", 1) == 0);
  NEED(mprof_write_profile("goroutine", "goroutine.pb.gz", 0) == 0);
  NEED(count_switches() == before);
  NEED(mprof_write_profile("threads", "threads", 3) == EINVAL);
  NEED(mprof_write_profile("heap", "threads", 2) == EINVAL);
}

int main(void) {
  static const char *const labels[] = {"label", "value", NULL};
  int labelled = LABELLED;
  create(UNLABELLED);
  mprof_labels_with(labels, create_labelled, &labelled);
  NEED(mprof_labels_get() == NULL);
  // The wait is noted before the thread releases the mutex.
  for (int n = 0; n != ALL;) {
    usleep(1000);
    pthread_mutex_lock(&mutex);
    n = waiting;
    pthread_mutex_unlock(&mutex);
  }
  take();
  pthread_mutex_lock(&mutex);
  may_end = 1;
  pthread_cond_broadcast(&cond);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < ALL; i++)
    NEED(pthread_join(threads[i], NULL) == 0);
  return 0;
}
