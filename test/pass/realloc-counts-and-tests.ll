; Intent: realloc is an allocation and a release: either reason calls the entry.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @f(ptr %p, i64 %n) {
; CHECK: %[[D:.*]] = sub i64 %{{.*}}, %n
; CHECK: %[[NEG:.*]] = icmp slt i64 %[[D]], 0
; CHECK: load i64, ptr @__mprof_free_mask
; CHECK: %[[NONE:.*]] = icmp eq i64 %{{.*}}, 0
; CHECK: %[[ASK:.*]] = or i1 %[[NEG]], %[[NONE]]
; CHECK: br i1 %[[ASK]]
; CHECK: call ptr @realloc(ptr %p, i64 %n)
; CHECK: call ptr @__mprof_realloc(ptr %p, i64 %n)
  %q = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}

declare ptr @realloc(ptr, i64)
