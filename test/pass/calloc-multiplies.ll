; Intent: if hooks.def names a count for a function such as calloc, the inserted
; code subtracts size times count from the countdown.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @f(i64 %count, i64 %size) {
; CHECK: %[[BYTES:.*]] = mul i64 %size, %count
; CHECK: sub i64 %{{.*}}, %[[BYTES]]
; CHECK: call ptr @__mprof_calloc(i64 %count, i64 %size)
  %p = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %p
}

declare ptr @calloc(i64, i64)
