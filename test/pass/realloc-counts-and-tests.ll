; Intent: realloc is both an allocation and a free. It calls the runtime if the
; countdown has run out or if the old block may be counted. NULL is never a
; counted block.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @f(ptr %p, i64 %n) {
; CHECK: %[[D:.*]] = sub i64 %[[OLD:.*]], %n
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[OLD]], %n
; CHECK: br i1 %[[OUT]], label %[[COLD:.*]], label %[[SECOND:.*]], !prof
; CHECK: [[SECOND]]:
; CHECK: load i64, ptr @__mprof_free_mask
; CHECK: %[[NONE:.*]] = icmp eq i64 %{{.*}}, 0
; CHECK: br i1 %[[NONE]], label %[[MASKED:.*]], label %[[FAST:.*]], !prof
; CHECK: [[FAST]]:
; CHECK: %[[F:.*]] = load ptr, ptr @__mprof_next_realloc
; CHECK-NEXT: call ptr %[[F]](ptr %p, i64 %n)
; CHECK: [[MASKED]]:
; CHECK-NEXT: %[[NULL:.*]] = icmp eq ptr %p, null
; CHECK-NEXT: br i1 %[[NULL]], label %[[FAST]], label %[[COLD]],
; CHECK: [[COLD]]:
; CHECK-NEXT: call ptr @__mprof_realloc(ptr %p, i64 %n)
  %q = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}

declare ptr @realloc(ptr, i64)
