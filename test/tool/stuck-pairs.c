// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: for stuck threads with equal stacks, mprof stuck shows which thread
// waits for which one and for which lock, at most four, and it names the
// threads of a cycle in the order of their waits.
//
// The profile of MProf's runtime has the ids of the threads for which others
// wait.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g -I%src/test/Inputs %s -o app -pthread
// RUN: %python -B %S/Inputs/while_it_runs.py ./app %mprof stuck > out
// RUN: FileCheck %s < out && not grep -E '(thread|lock|holder):' out
// CHECK: Cycle 1 of 1: 3 threads wait for one another: [[A:[0-9]+]] -> [[B:[0-9]+]] -> [[C:[0-9]+]] -> [[A]]{{$}}
// CHECK: {{^7  }}
// CHECK-NEXT: waits: [[A]] -> [[B]] (locks+0x{{[0-9a-f]+}}){{$}}
// CHECK-NEXT: {{^ +}}[[B]] -> [[C]] (locks+0x{{[0-9a-f]+}}){{$}}
// CHECK-NEXT: {{^ +}}[[C]] -> [[A]] (locks){{$}}
// CHECK-NEXT: {{^ +[0-9]+}} -> [[A]] (locks){{$}}
// CHECK-NEXT: {{^ +}}and 3 others{{$}}
//
// RUN: %mprof_clang -fmprof -DPROFILE -O1 -g1 -I%src/test/Inputs %s -o own
// RUN: env MPROF_OPTIONS=profile=0:report=0 ./own
// RUN: %mprof stuck own.threadleak.pb.gz > out && FileCheck %s --check-prefix=OWN < out
// OWN: Cycle 1 of 1: 3 threads wait for one another: [[A:[0-9]+]] -> [[B:[0-9]+]] -> [[C:[0-9]+]] -> [[A]]{{$}}
// OWN: {{^7  }}
// OWN-NEXT: waits: 4 threads -> [[T:[0-9]+]] (locks){{$}}
// OWN-COUNT-3: {{^ +[0-9]+ -> [0-9]+}} (locks
// OWN-NOT: ->

#define _GNU_SOURCE 1
#include "sync-observe.h"

#ifdef PROFILE
#include <mprof/mprof.h>
#endif

enum { RING = 3, ALL = 7 };
static pthread_mutex_t locks[RING];
static pthread_barrier_t all_hold;
static struct waiter {
  pid_t tid;
  int own, wanted;
} waiters[ALL];

__attribute__((noinline)) static void *waits(void *arg) {
  struct waiter *w = arg;
  if (w->own >= 0) {
    pthread_mutex_lock(&locks[w->own]);
    pthread_barrier_wait(&all_hold);
  }
  about_to_wait(&w->tid);
  pthread_mutex_lock(&locks[w->wanted]);
  return arg;
}

static void start_waiter(int i, int own, int wanted) {
  pthread_t t;
  waiters[i] = (struct waiter){.own = own, .wanted = wanted};
  NEED(pthread_create(&t, NULL, waits, &waiters[i]) == 0);
}

static void until_all_wait(int first, int end) {
  for (int i = first; i < end; i++)
    until_waits_for(&waiters[i].tid, &locks[waiters[i].wanted], sizeof *locks);
}

int main(void) {
  for (int i = 0; i < RING; i++)
    pthread_mutex_init(&locks[i], NULL);
  pthread_barrier_init(&all_hold, NULL, RING);
  for (int i = 0; i < RING; i++)
    start_waiter(i, i, (i + 1) % RING);
  until_all_wait(0, RING);
  for (int i = RING; i < ALL; i++)
    start_waiter(i, -1, 0);
  until_all_wait(RING, ALL);
#ifdef PROFILE
  _exit(mprof_write_profile("threadleak", "own.threadleak.pb.gz", 0) != 0);
#endif
  puts("ready");
  fflush(stdout);
  getchar();
  puts("alive");
  fflush(stdout);
  _exit(0);
}
