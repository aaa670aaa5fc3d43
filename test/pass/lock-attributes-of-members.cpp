// Intent: the attributes mprof_lock, mprof_unlock and mprof_blocking work on
// functions, members and templates, in all spellings. Inside a function with
// such an attribute, calls of pthread_mutex_lock and similar functions are not
// rewritten.
// RUN: %clangxx_mprof -O0 -fno-discard-value-names -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clangxx_mprof -O2 -fno-discard-value-names -S -emit-llvm -o - %s | FileCheck %s --check-prefix=INSIDE
#include <pthread.h>
#include <unistd.h>

__attribute__((mprof_lock(2))) void take(int how, void *lock);
extern "C" __attribute__((mprof_unlock(1))) int give(void *lock);
__attribute__((mprof_blocking)) int fetch();

struct Lock {
  pthread_mutex_t mutex;
  __attribute__((mprof_lock(1))) __attribute__((noinline)) void lock() {
    pthread_mutex_lock(&mutex);
  }
  __attribute__((mprof_unlock(1))) __attribute__((noinline)) void unlock() {
    pthread_mutex_unlock(&mutex);
  }
  __attribute__((mprof_blocking)) __attribute__((noinline)) static void sleepy() {
    usleep(1);
  }
  template <class T> __attribute__((mprof_lock(2))) T both(Lock *other);
};

// CHECK-LABEL: define {{.*}}@_Z1fR4Lock(
void f(Lock &lock) {
  // CHECK: call void @__mprof_user_lock_begin(ptr %{{.*}}, ptr @_Z4takeiPv, ptr @_Z4takeiPv)
  // CHECK: call void @_Z4takeiPv(i32 noundef 3, ptr noundef @_Z4takeiPv)
  // CHECK: call void @__mprof_user_lock_end(
  take(3, (void *)take);
  // CHECK: %[[L:.*]] = load ptr, ptr %lock.addr
  // CHECK: call void @__mprof_user_lock_begin(ptr %{{.*}}, ptr @_ZN4Lock4lockEv, ptr %[[L]])
  lock.lock();
  // CHECK: %[[L:.*]] = load ptr, ptr %lock.addr
  // CHECK: %[[O:.*]] = load ptr, ptr %lock.addr
  // CHECK: call void @__mprof_user_lock_begin(ptr %{{.*}}, ptr @_ZN4Lock4bothIiEET_PS_, ptr %[[O]])
  lock.both<int>(&lock);
  // CHECK: call void @__mprof_user_unlock_begin(ptr %{{.*}}, ptr @_ZN4Lock6unlockEv,
  lock.unlock();
  // CHECK: call void @__mprof_user_unlock_begin(ptr %{{.*}}, ptr @give,
  give(&lock);
  // CHECK: call void @__mprof_user_call_begin(ptr %{{.*}}, ptr @_Z5fetchv)
  fetch();
  // CHECK: call void @__mprof_user_call_begin(ptr %{{.*}}, ptr @_ZN4Lock6sleepyEv)
  Lock::sleepy();
}

// INSIDE-LABEL: define {{.*}}@_ZN4Lock4lockEv(
// INSIDE: call i32 @pthread_mutex_lock(
// INSIDE-LABEL: define {{.*}}@_ZN4Lock6unlockEv(
// INSIDE: call i32 @pthread_mutex_unlock(
// INSIDE-LABEL: define {{.*}}@_ZN4Lock6sleepyEv(
// INSIDE: call i32 @usleep(
// INSIDE-NOT: {{call.*@__mprof_(usleep|pthread|tried)}}
