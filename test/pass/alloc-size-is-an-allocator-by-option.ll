; Intent: with -mprof-alloc-size, a function with the attribute allocsize is a
; custom allocator, whose size arguments allocsize names. With allockind, it may
; be a realloc or free function. Functions with an mprof attribute, hooked
; functions and functions of libgc are treated as without the option. Without
; it, allocsize has no effect.
; RUN: %opt_mprof -mprof-alloc-size %s | FileCheck %s
; RUN: %opt_mprof %s | FileCheck %s --check-prefix=OFF --implicit-check-not='call void @__mprof_custom'
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [14 x i8] c"mprof.alloc:0\00", section "llvm.metadata"
@.w = private constant [14 x i8] c"mprof.wrapper\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @own, ptr @.a, ptr @.f, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @wrapped, ptr @.w, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-LABEL: define void @f(
; CHECK: %a = call ptr @one(i32 %n, i64 7)
; CHECK: call void @__mprof_custom_alloc(ptr %a, i64 7)
; CHECK: %[[BYTES:.*]] = mul i64
; CHECK: %b = call ptr @product(i64 3, i64 %m)
; CHECK: call void @__mprof_custom_alloc(ptr %b, i64 %[[BYTES]])
; CHECK: call i64 @__mprof_custom_realloc_begin(ptr %b)
; CHECK: %c = call ptr @resized(i64 99, ptr %b)
; CHECK: call void @__mprof_custom_realloc_end(i64 %{{.*}}, ptr %b, ptr %c, i64 99
; CHECK: call void @__mprof_custom_free(ptr %c)
; CHECK: call void @released(i32 1, ptr %c)
; CHECK: %d = call ptr @own(i64 5, i64 6)
; CHECK: call void @__mprof_custom_alloc(ptr %d, i64 5)
; CHECK-NOT: __mprof_custom
; CHECK: %g = call ptr @GC_other(i64 9)
; CHECK-NEXT: %h = call ptr @wrapped(i64 10)
; CHECK-NEXT: ret void
; CHECK: call ptr @__mprof_malloc(i64 {{8|%.*}})
; OFF-LABEL: define void @f(
; OFF: call void @__mprof_custom_alloc(ptr %d, i64 5)
define void @f(i32 %n, i64 %m) {
  %a = call ptr @one(i32 %n, i64 7)
  %b = call ptr @product(i64 3, i64 %m)
  %c = call ptr @resized(i64 99, ptr %b)
  call void @released(i32 1, ptr %c)
  %d = call ptr @own(i64 5, i64 6)
  %e = call ptr @malloc(i64 8)
  %g = call ptr @GC_other(i64 9)
  %h = call ptr @wrapped(i64 10)
  ret void
}

; The malloc inside an allocator is not counted.
; CHECK-LABEL: define ptr @product(
; CHECK-NOT: __mprof_malloc
; CHECK: ret ptr
define ptr @product(i64 %n, i64 %m) allocsize(0, 1) {
  %bytes = mul i64 %n, %m
  %p = call ptr @malloc(i64 %bytes)
  ret ptr %p
}

declare ptr @one(i32, i64) allocsize(1)
declare ptr @resized(i64, ptr allocptr) allockind("realloc") allocsize(0)
declare void @released(i32, ptr allocptr) allockind("free")
declare ptr @own(i64, i64) allocsize(1)
declare ptr @malloc(i64) allocsize(0)
declare ptr @GC_other(i64) allocsize(0)
declare ptr @wrapped(i64) allocsize(0)
