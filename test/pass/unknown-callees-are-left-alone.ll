; Intent: only a direct call of malloc or another hooked function with the right
; prototype is rewritten. Indirect calls, uses of the function's address, local
; functions with the same name and calls with another type are not.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not=__mprof_
target triple = "x86_64-pc-linux-gnu"

@table = global ptr @malloc

; CHECK-LABEL: define ptr @indirect(
define ptr @indirect(ptr %f) {
  %p = call ptr %f(i64 1)
  ret ptr %p
}

; CHECK-LABEL: define i32 @prototype(
define i32 @prototype() {
  %p = call i32 @malloc(i32 1)
  ret i32 %p
}

; CHECK-LABEL: define void @namesake(
define void @namesake(ptr %p) {
; CHECK: call void @free(ptr %p)
  call void @free(ptr %p)
  ret void
}

define internal void @free(ptr %p) {
  ret void
}

declare ptr @malloc(i64)
