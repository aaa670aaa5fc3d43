; Intent: an mprof annotation that hooks.def does not define is an error and is
; not ignored.
; RUN: not %opt_mprof %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [14 x i8] c"mprof.alloc:x\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @get, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK: error: mprof: unknown annotation 'mprof.alloc:x' of function 'get'
declare ptr @get(i64)
