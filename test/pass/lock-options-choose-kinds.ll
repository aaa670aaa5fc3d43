; Intent: for each kind of profile, only the calls that it needs are rewritten.
; Without block and mutex, no lock is rewritten. With mutex alone, only waits
; that another thread's release ends are rewritten.
; RUN: %opt_mprof %s | FileCheck %s --check-prefixes=ALL,LOCKS,WAITS,CREATES,HEAP
; RUN: %opt_mprof -mprof-block=false %s | FileCheck %s --check-prefixes=ALL,LOCKS,NOWAITS,CREATES,HEAP
; RUN: %opt_mprof -mprof-mutex=false %s | FileCheck %s --check-prefixes=ALL,LOCKS,WAITS,CREATES,HEAP
; RUN: %opt_mprof -mprof-block=false -mprof-mutex=false %s | FileCheck %s --check-prefixes=ALL,NOLOCKS,NOWAITS,CREATES,HEAP
; RUN: %opt_mprof -mprof-threadcreate=false %s | FileCheck %s --check-prefixes=ALL,LOCKS,WAITS,NOCREATES,HEAP
; RUN: %opt_mprof -mprof-heap=false %s | FileCheck %s --check-prefixes=ALL,LOCKS,WAITS,CREATES,NOHEAP
; RUN: %opt_mprof -mprof-heap=false -mprof-block=false -mprof-mutex=false -mprof-threadcreate=false %s \
; RUN:   | FileCheck %s --check-prefixes=ALL,NOLOCKS,NOWAITS,NOCREATES,NOHEAP
target triple = "x86_64-pc-linux-gnu"

@.l = private constant [13 x i8] c"mprof.lock:0\00", section "llvm.metadata"
@.u = private constant [15 x i8] c"mprof.unlock:0\00", section "llvm.metadata"
@.b = private constant [15 x i8] c"mprof.blocking\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] [
  { ptr, ptr, ptr, i32, ptr } { ptr @take, ptr @.l, ptr @.f, i32 1, ptr null },
  { ptr, ptr, ptr, i32, ptr } { ptr @give, ptr @.u, ptr @.f, i32 1, ptr null },
  { ptr, ptr, ptr, i32, ptr } { ptr @fetch, ptr @.b, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; ALL-LABEL: define void @locks(
; LOCKS: call {{.*}}@__mprof_stub_pthread_mutex_lock(
; LOCKS-DAG: call {{.*}}@__mprof_stub_pthread_mutex_unlock(
; LOCKS-DAG: call {{.*}}@__mprof_stub_pthread_mutex_timedlock(
; LOCKS-DAG: call {{.*}}@__mprof_stub_pthread_rwlock_timedrdlock(
; LOCKS-DAG: call {{.*}}@__mprof_stub_pthread_cond_wait(
; LOCKS-DAG: call {{.*}}@__mprof_stub_sem_post(
; LOCKS-DAG: @__mprof_user_lock_begin(
; LOCKS-DAG: @__mprof_user_unlock_begin(
; NOLOCKS-NOT: __mprof_
; NOLOCKS: ret void
define void @locks(ptr %l) cold {
  %1 = call i32 @pthread_mutex_lock(ptr %l)
  %2 = call i32 @pthread_mutex_unlock(ptr %l)
  %3 = call i32 @pthread_mutex_timedlock(ptr %l, ptr %l)
  %4 = call i32 @pthread_rwlock_timedrdlock(ptr %l, ptr %l)
  %5 = call i32 @pthread_cond_wait(ptr %l, ptr %l)
  %6 = call i32 @sem_post(ptr %l)
  call void @take(ptr %l)
  call void @give(ptr %l)
  ret void
}

; ALL-LABEL: define void @waits(
; WAITS-DAG: call {{.*}}@__mprof_stub_sem_wait(
; WAITS-DAG: call {{.*}}@__mprof_stub_usleep(
; WAITS-DAG: call {{.*}}@__mprof_stub_pthread_mutex_trylock(
; WAITS-DAG: @__mprof_user_call_begin(
; NOWAITS-NOT: __mprof_
; NOWAITS: ret void
define void @waits(ptr %s) {
  %1 = call i32 @sem_wait(ptr %s)
  %2 = call i32 @usleep(i32 1)
  %3 = call i32 @pthread_mutex_trylock(ptr %s)
  call void @fetch()
  ret void
}

; ALL-LABEL: define i32 @creates(
; CREATES: @__mprof_pthread_create(
; NOCREATES: call i32 @pthread_create(
define i32 @creates(ptr %t, ptr %f) {
  %r = call i32 @pthread_create(ptr %t, ptr null, ptr %f, ptr null)
  ret i32 %r
}

; ALL-LABEL: define ptr @allocates(
; HEAP: @__mprof_malloc(
; NOHEAP: call ptr @malloc(
; NOHEAP-NOT: __mprof_malloc
define ptr @allocates() {
  %p = call ptr @malloc(i64 1)
  ret ptr %p
}

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_mutex_timedlock(ptr, ptr)
declare i32 @pthread_rwlock_timedrdlock(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @sem_post(ptr)
declare i32 @sem_wait(ptr)
declare i32 @usleep(i32)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare ptr @malloc(i64)
declare void @take(ptr)
declare void @give(ptr)
declare void @fetch()
