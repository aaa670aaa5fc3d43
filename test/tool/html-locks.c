// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the Locks view has the rows of mprof locks. Holds whose begin is not
// known are in the row whose begin is known, an unnamed lock has the type of
// its block, and rows that are not shown have a sum. The overview names the
// lock also if there is only a block profile.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: TEXT="%python %S/Inputs/browser.py text all"
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %S/locks-unknown-begin.c \
// RUN:   -o unknown -lpthread
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:log_path=u:report=0} ./unknown
// RUN: %mprof html u.*.pb.gz -o u.html && $TEXT u.html#all | grep '^Locks:' > u
// RUN: FileCheck %s --check-prefix=UNKNOWN < u && not grep -F '? ->' u
// UNKNOWN: ? is not known, because no thread had waited for the lock shortly before. A wait that several releases prolonged is one wait
// UNKNOWN: want locks-unknown-begin.c:{{[0-9]+}} → hold locks-unknown-begin.c:{{[0-9]+}} -> {{[0-9]+}}{{.*}} in 2 waits, worst {{.*}}, held {{.*}} + ?, queue 1
//
// RUN: %mprof html u.*.block.pb.gz -o b.html && $TEXT b.html#all | FileCheck %s \
// RUN:   --check-prefix=BLOCK
// BLOCK: Overview: {{.*}}want locks-unknown-begin.c:{{[0-9]+}}for mutex m
//
// RUN: %mprof_clangxx -fmprof -O1 -g -I%src/test/Inputs \
// RUN:   %src/test/rt/lock-pairs-of-objects.cpp -o objects
// RUN: %run{heap_rate=1:mutex_fraction=1:log_path=o:report=0} ./objects
// RUN: %mprof html o.*.locks.pb.gz -o o.html && $TEXT o.html#all > o
// RUN: grep '^Locks:' o | grep -F '+48 in Account lock-pairs-of-objects.cpp:'
//
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o rows -lpthread
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:log_path=r:report=0} ./rows
// RUN: %mprof html r.*.pb.gz -o r.html && $TEXT r.html#all | FileCheck %s \
// RUN:   --check-prefix=ROWS
// ROWS: Locks: {{.*}}Waited: {{.*}} in 14 waits{{.*}}8 more rows: {{[0-9.]+ (µs|ms|s)}}Let others wait{{.*}}2 more rows: {{[0-9.]+ (µs|ms|s)}}

#define _GNU_SOURCE 1
#include "sync-observe.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter;

#define WAITER(n)                                                              \
  __attribute__((noinline)) static void *wait_##n(void *unused) {              \
    about_to_wait(&waiter);                                                    \
    pthread_mutex_lock(&m);                                                    \
    pthread_mutex_unlock(&m);                                                  \
    __asm__ volatile("# " #n ::: "memory");                                    \
    return unused;                                                             \
  }
WAITER(1)
WAITER(2)
WAITER(3)
WAITER(4)
WAITER(5)
WAITER(6)
WAITER(7)
WAITER(8)
WAITER(9)
WAITER(10)
WAITER(11)
WAITER(12)
WAITER(13)
WAITER(14)

int main(void) {
  void *(*const waiters[])(void *) = {
      wait_1, wait_2, wait_3,  wait_4,  wait_5,  wait_6,  wait_7,
      wait_8, wait_9, wait_10, wait_11, wait_12, wait_13, wait_14};
  for (unsigned i = 0; i < sizeof waiters / sizeof *waiters; i++) {
    pthread_t t;
    pthread_mutex_lock(&m);
    NEED(pthread_create(&t, NULL, waiters[i], NULL) == 0);
    until_waits_for(&waiter, &m, sizeof m);
    pthread_mutex_unlock(&m);
    NEED(pthread_join(t, NULL) == 0);
    waiter = 0;
  }
  return 0;
}
