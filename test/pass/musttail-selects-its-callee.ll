; Intent: for a musttail call, a select instruction chooses between the original
; function and the runtime's function, because no code may follow the call. Both
; functions have the same prototype.
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @alloc(i64 %n) {
; CHECK-LABEL: define ptr @alloc(
; CHECK: %[[ASK:.*]] = icmp ule i64
; CHECK: %[[F:.*]] = select i1 %[[ASK]], ptr @__mprof_malloc, ptr %{{.*}}, !prof
; CHECK: %p = musttail call ptr %[[F]](i64 %n)
; CHECK-NEXT: ret ptr %p
  %p = musttail call ptr @malloc(i64 %n)
  ret ptr %p
}

define void @release(ptr %p) {
; CHECK-LABEL: define void @release(
; CHECK: %[[F:.*]] = select i1 %{{.*}}, ptr @__mprof_free, ptr %{{.*}}
; CHECK: musttail call void %[[F]](ptr %p)
  musttail call void @free(ptr %p)
  ret void
}

define void @cold_release(ptr %p) minsize optsize {
; CHECK-LABEL: define void @cold_release(
; CHECK: select i1 %{{.*}}, ptr @__mprof_free, ptr %{{.*}}
  musttail call void @free(ptr %p)
  ret void
}

define ptr @copy(ptr %s) {
; CHECK-LABEL: define ptr @copy(
; CHECK: musttail call ptr @__mprof_strdup(ptr %s)
  %p = musttail call ptr @strdup(ptr %s)
  ret ptr %p
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @strdup(ptr)
