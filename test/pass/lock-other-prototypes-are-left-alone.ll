; Intent: a call is not rewritten if the function has the name of a hooked
; function but another type, calling convention or local linkage. Indirect calls
; are not rewritten. A remark reports another type or calling convention.
; RUN: %opt_mprof %s -pass-remarks-missed=mprof 2>%t.err | FileCheck %s --implicit-check-not="{{call .*@__mprof_}}"
; RUN: FileCheck %s --check-prefix=REMARK < %t.err
target triple = "x86_64-pc-linux-gnu"

@table = global ptr @pthread_mutex_unlock

; REMARK-DAG: pthread_mutex_lock not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-DAG: read not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-DAG: sleep not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-DAG: fcntl not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-DAG: pthread_create not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-DAG: sem_post not rewritten: the prototype or the calling convention of the call is not that of the library function
; REMARK-NOT: wait not rewritten

; CHECK-LABEL: define void @f(
define void @f(ptr %p) {
; CHECK: call void @pthread_mutex_lock(ptr %p)
  call void @pthread_mutex_lock(ptr %p)
; CHECK: call i32 @read(i32 0, ptr %p, i32 1)
  %a = call i32 @read(i32 0, ptr %p, i32 1)
; CHECK: call i64 @sleep(i64 1)
  %b = call i64 @sleep(i64 1)
; CHECK: call i32 @fcntl(i32 1, i32 2, ptr %p)
  %c = call i32 @fcntl(i32 1, i32 2, ptr %p)
; CHECK: call i32 @pthread_create(ptr %p, ptr %p)
  %d = call i32 @pthread_create(ptr %p, ptr %p)
; CHECK: call fastcc i32 @sem_post(ptr %p)
  %e = call fastcc i32 @sem_post(ptr %p)
; CHECK: call i32 @wait(ptr %p)
  %g = call i32 @wait(ptr %p)
  %u = load ptr, ptr @table
; CHECK: call i32 %u(ptr %p)
  %h = call i32 %u(ptr %p)
  ret void
}

define internal i32 @wait(ptr %p) {
  ret i32 0
}

declare void @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @read(i32, ptr, i32)
declare i64 @sleep(i64)
declare i32 @fcntl(i32, i32, ...)
declare i32 @pthread_create(ptr, ptr)
declare fastcc i32 @sem_post(ptr)
