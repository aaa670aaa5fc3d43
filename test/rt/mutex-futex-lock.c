// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a lock that calls futex by libc's syscall function, as Rust's Mutex
// does, is in the block profile with the function that waited, and in the mutex
// profile with the function that released it, also if only the mutex profile is
// on. A counter that such a thread waits for is no lock, so its wake is not in
// the mutex profile.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap=0:block_rate=1:mutex_fraction=1:log_path=a} ./app
// RUN: %mprof traces a.*.block.pb.gz >block.txt && grep 'kind: futex' block.txt
// RUN: grep 'take .*:[0-9]*  via syscall' block.txt
// RUN: grep 'await .*:[0-9]*  via syscall' block.txt
// RUN: %mprof traces a.*.mutex.pb.gz >mutex.txt && FileCheck %s --check-prefix=MUTEX <mutex.txt
// RUN: not grep notify mutex.txt
// RUN: %run{heap=0:mutex_fraction=1:log_path=b} ./app
// RUN: %mprof traces b.*.mutex.pb.gz | FileCheck %s --check-prefix=MUTEX
// MUTEX: kind: futex
// MUTEX-NEXT: release {{.*}}:[[#]]  via syscall
//
// The same without a rebuild:
// RUN: %clang -O1 -g1 -I%src/test/Inputs %s -o plain
// RUN: %run{heap=0:mutex_fraction=1:log_path=c} LD_PRELOAD=%preload ./plain
// RUN: %mprof traces c.*.mutex.pb.gz | FileCheck %s --check-prefix=MUTEX

#define _GNU_SOURCE
#include "sync-observe.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>

// 0: free; 1: taken; 2: taken, and a thread waits.
static atomic_uint lock = 1;
static atomic_uint count;
static pid_t tid;

#define FUTEX(word, op, value)                                                 \
  syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0)

__attribute__((noinline)) static void take(void) {
  while (atomic_exchange(&lock, 2) != 0)
    FUTEX(&lock, FUTEX_WAIT, 2);
}

__attribute__((noinline)) static void release(void) {
  if (atomic_exchange(&lock, 0) == 2)
    FUTEX(&lock, FUTEX_WAKE, 1);
  __asm__ volatile(""); // no tail call
}

__attribute__((noinline)) static void await(unsigned seen) {
  while (atomic_load(&count) == seen)
    FUTEX(&count, FUTEX_WAIT, seen);
}

__attribute__((noinline)) static void notify(void) {
  atomic_fetch_add(&count, 1);
  FUTEX(&count, FUTEX_WAKE, 1);
  __asm__ volatile(""); // no tail call
}

static void *waiter(void *arg) {
  about_to_wait(&tid);
  take();
  about_to_wait(&tid);
  await(0);
  about_to_wait(&tid);
  await(1);
  return arg;
}

int main(void) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, waiter, NULL) == 0);
  until_waits_for(&tid, &lock, sizeof(lock));
  release();
  for (int i = 0; i < 2; i++) {
    until_waits_for(&tid, &count, sizeof(count));
    notify();
  }
  pthread_join(t, NULL);
}
