; Intent: a musttail call of a custom allocator is left unchanged, because no
; code may follow the call. A remark says so.
; RUN: %opt_mprof %s -pass-remarks-missed=mprof 2>%t.err | FileCheck %s --implicit-check-not=__mprof_
; RUN: FileCheck %s --check-prefix=REMARK < %t.err
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [14 x i8] c"mprof.alloc:0\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @pool_get, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK: musttail call ptr @pool_get(i64 %n)
; REMARK: pool_get not rewritten: the call is a musttail call, so no code can be inserted after it
define ptr @f(i64 %n) {
  %p = musttail call ptr @pool_get(i64 %n)
  ret ptr %p
}

declare ptr @pool_get(i64)
