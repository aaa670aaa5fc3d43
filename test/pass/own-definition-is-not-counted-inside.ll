; Intent: if a program defines operator new itself, this function is the
; allocator. Calls inside it are not rewritten, and calls of it are. It is not
; inlined, so that the calls of it remain.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@free = alias void (ptr), ptr @my_free

; CHECK: define ptr @_Znwm(i64 %n) #[[ALLOCATOR:[0-9]+]]
; CHECK-NEXT: call ptr @malloc(i64 %n)
; CHECK-NEXT: ret
define ptr @_Znwm(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

; CHECK: define internal void @my_free(
; CHECK-NEXT: call void @_ZdlPv(ptr %p)
; CHECK-NEXT: ret
define internal void @my_free(ptr %p) {
  call void @_ZdlPv(ptr %p)
  ret void
}

; An available_externally body is only a copy of a definition elsewhere.
; CHECK: define available_externally ptr @calloc(
; CHECK: call ptr @__mprof_malloc(
define available_externally ptr @calloc(i64 %a, i64 %b) {
  %n = mul i64 %a, %b
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

; CHECK-LABEL: define void @f(
; CHECK: call ptr @__mprof__Znwm(i64 {{8|%.*}})
define void @f() {
  %p = call ptr @_Znwm(i64 8)
  ret void
}

; Both are calls of free: the optimizer may replace the alias by its aliasee.
; CHECK-LABEL: define void @g(
; CHECK-DAG: call void @__mprof_free(ptr %p)
; CHECK-DAG: call void @__mprof_free(ptr %q)
define void @g(ptr %p, ptr %q) {
  call void @free(ptr %p)
  call void @my_free(ptr %q)
  ret void
}

; CHECK: attributes #[[ALLOCATOR]] = { {{.*}}noinline
declare ptr @malloc(i64)
declare void @_ZdlPv(ptr)
