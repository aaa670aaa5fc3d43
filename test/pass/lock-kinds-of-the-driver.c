// Intent: -fmprof=KIND,... rewrites only the calls that these kinds of profiles
// need, and -fno-mprof=KIND turns a kind off again.
// RUN: %mprof_clang -fmprof -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=HEAP,LOCK,SLEEP,CREATE
// RUN: %mprof_clang -fmprof=heap -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=HEAP,NOLOCK,NOSLEEP,NOCREATE
// RUN: %mprof_clang -fmprof=block -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=NOHEAP,LOCK,SLEEP,NOCREATE
// RUN: %mprof_clang -fmprof=mutex -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=NOHEAP,LOCK,NOSLEEP,NOCREATE
// RUN: %mprof_clang -fmprof=threadcreate -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=NOHEAP,NOLOCK,NOSLEEP,CREATE
// RUN: %mprof_clang -fmprof=mutex,threadcreate -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=NOHEAP,LOCK,NOSLEEP,CREATE
// RUN: %mprof_clang -fmprof -fno-mprof=block,mutex -O1 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=HEAP,NOLOCK,NOSLEEP,CREATE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

// HEAP: call {{.*}}__mprof_malloc
// NOHEAP-NOT: call {{.*}}__mprof_malloc
void allocates(void **p) { *p = malloc(8); }

// LOCK: call {{.*}}@__mprof_stub_pthread_mutex_unlock(
// NOLOCK-NOT: @__mprof_stub_pthread_mutex
void locks(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  pthread_mutex_unlock(m);
}

// SLEEP: call {{.*}}@__mprof_stub_usleep(
// NOSLEEP-NOT: @__mprof_stub_usleep
void sleeps(void) { usleep(1); }

// CREATE: call i32 @__mprof_pthread_create(
// NOCREATE-NOT: call i32 @__mprof_pthread_create(
int creates(pthread_t *t, void *(*f)(void *)) {
  return pthread_create(t, NULL, f, NULL);
}
