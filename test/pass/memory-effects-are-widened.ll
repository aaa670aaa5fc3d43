; Intent: the optimizer infers that a function which calls malloc changes no
; memory that the program sees. The rewritten function changes the countdown, so
; the pass corrects this attribute. Otherwise optimizations at link time would
; be wrong.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK: define ptr @make() #[[WIDE:[0-9]+]]
define ptr @make() memory(inaccessiblemem: readwrite) {
  %p = call ptr @malloc(i64 8)
  ret ptr %p
}
; CHECK: define ptr @caller() #[[WIDE]]
define ptr @caller() memory(inaccessiblemem: readwrite) {
  %p = call ptr @make()
  ret ptr %p
}
; CHECK: define i32 @pure(i32 %x) #[[PURE:[0-9]+]]
define i32 @pure(i32 %x) memory(none) {
  ret i32 %x
}
declare ptr @malloc(i64)
; CHECK-DAG: attributes #[[WIDE]] = { memory(readwrite, argmem: none{{[^)]*}}) uwtable }
; CHECK-DAG: attributes #[[PURE]] = { memory(none) uwtable }
