// Intent: waits and locks in a function with mprof_ignore are not recorded,
// even if the function is inlined. Releases and thread creations in the
// function are recorded, because they concern other threads.
// RUN: %clang_mprof -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <pthread.h>
#include <semaphore.h>

// CHECK-LABEL: define {{.*}}@ignored(
// CHECK: tail call i32 @pthread_mutex_lock(
// CHECK: tail call i32 @sem_wait(
// CHECK: call i32 @__mprof_pthread_create(
// CHECK: call {{.*}}@__mprof_stub_pthread_mutex_unlock(
// CHECK: call {{.*}}@__mprof_stub_sem_post(
// CHECK-NOT: @__mprof_stub_sem_wait
// CHECK-LABEL: define {{.*}}@caller(
__attribute__((mprof_ignore)) void ignored(pthread_mutex_t *m, sem_t *s,
                                           void *(*f)(void *)) {
  pthread_t t;
  pthread_mutex_lock(m);
  sem_wait(s);
  pthread_create(&t, NULL, f, NULL);
  pthread_mutex_unlock(m);
  sem_post(s);
}

__attribute__((mprof_ignore, always_inline)) static inline void
inlined(sem_t *s) {
  sem_wait(s);
}

// CHECK: tail call i32 @sem_wait(
// CHECK: call {{.*}}@__mprof_stub_sem_trywait(
void caller(sem_t *s) {
  inlined(s);
  sem_trywait(s);
}
