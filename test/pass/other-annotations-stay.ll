; Intent: the pass removes only MProf's own entries from
; llvm.global.annotations.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [13 x i8] c"mprof.ignore\00", section "llvm.metadata"
@.b = private constant [6 x i8] c"other\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @f, ptr @.a, ptr @.f, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @g, ptr @.b, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK: @llvm.global.annotations = appending global [1 x {{.*}}] [{{.*}} { ptr @g, ptr @.b, {{.*}}section "llvm.metadata"
declare void @f()
declare void @g()
