; Intent: rewritten calls of custom allocators also change the countdown. The
; pass therefore corrects the memory effects of their callers, even in a module
; with no other rewritten calls.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [14 x i8] c"mprof.alloc:0\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @get, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK: define ptr @f() #[[WIDE:[0-9]+]]
; CHECK: attributes #[[WIDE]] = { memory(readwrite, argmem: none{{[^)]*}})
define ptr @f() memory(inaccessiblemem: readwrite) {
  %p = call ptr @get(i64 8)
  ret ptr %p
}
declare ptr @get(i64)
