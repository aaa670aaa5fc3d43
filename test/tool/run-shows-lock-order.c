// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run --lock-order says in words which function holds a lock and
// takes another one, also if both calls are on one line. It says so before it
// shows the memory. If there is no cycle, it says so, and shows no empty table
// of the memory behind that.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g1 %s -o app
// RUN: %mprof run --lock-order --heap-rate=1 ./app 2>&1 | FileCheck %s
// RUN: %mprof run --lock-order ./app nothing > none 2>&1
// RUN: grep '^lockorder profile: no cycle of locks was found$' none && not grep ' in total' none
// CHECK: 1 potential deadlock: threads take the same locks in different orders
// CHECK-NEXT: cycle 1
// CHECK-NEXT: holds b ({{0x[0-9a-f]*}}) in audit run-shows-lock-order.c:
// CHECK-NEXT: takes a ({{0x[0-9a-f]*}}) in audit run-shows-lock-order.c:
// CHECK-NEXT: holds a ({{0x[0-9a-f]*}}) in transfer run-shows-lock-order.c:
// CHECK-NEXT: takes b ({{0x[0-9a-f]*}}) in transfer run-shows-lock-order.c:
// CHECK-NEXT: mprof traces {{.*}}.lockorder.pb.gz
// CHECK: inuse_space

#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *volatile block;

__attribute__((noinline)) static void transfer(void) {
  pthread_mutex_lock(&a), pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
}

static void *audit(void *arg) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return arg;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    return 0;
  pthread_t thread;
  block = malloc(1000);
  transfer();
  if (pthread_create(&thread, NULL, audit, NULL) != 0)
    return 1;
  return pthread_join(thread, NULL);
}
