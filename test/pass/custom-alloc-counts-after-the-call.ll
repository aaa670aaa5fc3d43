; Intent: for a call of a function with mprof_alloc, the countdown is decreased
; by size times count, computed in 64 bits. This happens after the call, because
; the call may throw. Then the runtime is called if the countdown has run out.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [16 x i8] c"mprof.alloc:2,1\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @pool_get, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-NOT: llvm.global.annotations
; CHECK-LABEL: define ptr @f(
; CHECK-DAG: %[[N:.*]] = zext i32 %n to i64
; CHECK-DAG: %[[SIZE:.*]] = zext i16 %size to i64
; CHECK: %[[BYTES:.*]] = mul i64 %[[SIZE]], %[[N]]
; CHECK: %p = call ptr @pool_get(ptr null, i32 %n, i16 %size)
; CHECK: %[[D:.*]] = sub i64 %[[OLD:.*]], %[[BYTES]]
; CHECK: {{store|asm .*str.*}} i64 %[[D]]
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[OLD]], %[[BYTES]]
; CHECK: br i1 %[[OUT]], label %[[COLD:.*]], label %{{.*}}, !prof
; CHECK: [[COLD]]:
; CHECK: notail call void @__mprof_custom_alloc(ptr %p, i64 %[[BYTES]])
define ptr @f(i32 %n, i16 %size) {
  %p = call ptr @pool_get(ptr null, i32 %n, i16 %size)
  ret ptr %p
}

declare ptr @pool_get(ptr, i32, i16)
