; Intent: a call of a custom allocator is left unchanged if its arguments do not
; fit the attribute. This happens if another translation unit declares the
; function differently. A remark says so.
; RUN: %opt_mprof %s -pass-remarks-missed=mprof 2>%t.err | FileCheck %s --implicit-check-not=__mprof_
; RUN: FileCheck %s --check-prefix=REMARK < %t.err
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [14 x i8] c"mprof.alloc:1\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @pool_get, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK: call ptr @pool_get(i64 1)
; CHECK: call ptr @pool_get(i64 1, ptr null)
; REMARK-COUNT-2: pool_get not rewritten: the arguments or the result of the call do not have the types that the attribute needs
define void @f() {
  %p = call ptr @pool_get(i64 1)
  %q = call ptr @pool_get(i64 1, ptr null)
  ret void
}

declare ptr @pool_get(i64)
