; Intent: realloc is both an allocation and a free. It calls the runtime if the
; countdown has run out or if the old block may be counted.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @f(ptr %p, i64 %n) {
; CHECK: %[[D:.*]] = sub i64 %[[OLD:.*]], %n
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[OLD]], %n
; CHECK: load i64, ptr @__mprof_free_mask
; CHECK: %[[NONE:.*]] = icmp eq i64 %{{.*}}, 0
; CHECK: %[[ASK:.*]] = or i1 %[[OUT]], %[[NONE]]
; CHECK: br i1 %[[ASK]]
; CHECK: %[[F:.*]] = load ptr, ptr @__mprof_next_realloc
; CHECK-NEXT: call ptr %[[F]](ptr %p, i64 %n)
; CHECK: call ptr @__mprof_realloc(ptr %p, i64 %n)
  %q = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}

declare ptr @realloc(ptr, i64)
