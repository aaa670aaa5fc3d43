; Intent: with -mprof-heap=false, no call of an allocation function is
; rewritten.
; RUN: %opt_mprof -mprof-heap=false %s | FileCheck %s --implicit-check-not=__mprof_
target triple = "x86_64-pc-linux-gnu"

; CHECK: call ptr @malloc(i64 8)
define ptr @f() {
  %p = call ptr @malloc(i64 8)
  ret ptr %p
}
declare ptr @malloc(i64)
