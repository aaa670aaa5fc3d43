; Intent: a program may define a function such as pthread_mutex_lock or usleep
; itself. Waits inside the function are not rewritten, but allocations and
; thread creations are. Calls of the function are rewritten and are not inlined.
; RUN: %opt_mprof %s -pass-remarks-missed=mprof 2>%t.err | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.err
target triple = "x86_64-pc-linux-gnu"

; REMARK: pthread_mutex_trylock not rewritten: the call is inside a lock function, and MProf records the calls of the lock function instead
; CHECK: define i32 @pthread_mutex_lock(ptr %l) #[[OWN:[0-9]+]]
; CHECK-NEXT: %r = call i32 @pthread_mutex_trylock(ptr %l)
; CHECK-NEXT: %s = call i32 @sem_post(ptr %l)
; CHECK-DAG: call i32 @__mprof_pthread_create(
; CHECK-DAG: call ptr @__mprof_malloc(
define i32 @pthread_mutex_lock(ptr %l) {
  %r = call i32 @pthread_mutex_trylock(ptr %l)
  %s = call i32 @sem_post(ptr %l)
  %p = call ptr @malloc(i64 8)
  %t = call i32 @pthread_create(ptr %p, ptr null, ptr %l, ptr null)
  ret i32 %r
}

; CHECK: define i32 @usleep(i32 %us) #[[OWN]]
; CHECK-NEXT: call i32 @nanosleep(
; CHECK-NEXT: ret i32
define i32 @usleep(i32 %us) {
  %r = call i32 @nanosleep(ptr null, ptr null)
  ret i32 %r
}

; CHECK: define i32 @pthread_mutex_unlock(ptr %l) #[[OWN]]
; CHECK-NEXT: call i32 @sem_post(
; CHECK-NEXT: ret i32
define i32 @pthread_mutex_unlock(ptr %l) {
  %r = call i32 @sem_post(ptr %l)
  ret i32 %r
}

; CHECK-LABEL: define void @f(
; CHECK: call {{.*}}@__mprof_stub_pthread_mutex_lock(
; CHECK: call {{.*}}@__mprof_stub_usleep(
; CHECK: call {{.*}}@__mprof_stub_pthread_mutex_unlock(
define void @f(ptr %l) {
  %a = call i32 @pthread_mutex_lock(ptr %l)
  %b = call i32 @usleep(i32 1)
  %c = call i32 @pthread_mutex_unlock(ptr %l)
  ret void
}

; CHECK: attributes #[[OWN]] = { {{.*}}noinline
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @sem_post(ptr)
declare i32 @nanosleep(ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare ptr @malloc(i64)
