; Intent: functions of well-known allocators, such as je_malloc, are custom
; allocators without any attribute. A local function or a function with another
; prototype is not. An attribute in the source has priority.
; RUN: %opt_mprof %s | FileCheck %s
; RUN: %opt_mprof -mprof-heap=false %s | FileCheck %s --check-prefix=OFF
; OFF-NOT: __mprof_custom
target triple = "x86_64-pc-linux-gnu"

@.i = private constant [13 x i8] c"mprof.ignore\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @tc_valloc, ptr @.i, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-LABEL: define void @f(
; CHECK: %a = call ptr @je_malloc(i64 7)
; CHECK: call void @__mprof_custom_alloc(ptr %a, i64 7)
; CHECK: %[[BYTES:.*]] = mul i64
; CHECK: %b = call ptr @mi_calloc(i64 3, i64 %n)
; CHECK: call void @__mprof_custom_alloc(ptr %b, i64 %[[BYTES]])
; CHECK: call i64 @__mprof_custom_realloc_begin(ptr %b)
; CHECK: %c = call ptr @rprealloc(ptr %b, i64 99)
; CHECK: call void @__mprof_custom_realloc_end(i64 %{{.*}}, ptr %b, ptr %c, i64 99
; CHECK: %[[PRODUCT:.*]] = mul i64
; CHECK: call i64 @__mprof_custom_realloc_begin(ptr %c)
; CHECK: %d = call ptr @sn_reallocarray(ptr %c, i64 %n, i64 5)
; CHECK: call void @__mprof_custom_realloc_end(i64 %{{.*}}, ptr %c, ptr %d, i64 %[[PRODUCT]]
; CHECK: call void @__mprof_custom_free(ptr %d)
; CHECK: call void @tc_free(ptr %d)
; CHECK-NOT: __mprof_custom
; CHECK: ret void
define void @f(i64 %n) {
  %a = call ptr @je_malloc(i64 7)
  %b = call ptr @mi_calloc(i64 3, i64 %n)
  %c = call ptr @rprealloc(ptr %b, i64 99)
  %d = call ptr @sn_reallocarray(ptr %c, i64 %n, i64 5)
  call void @tc_free(ptr %d)
  %e = call ptr @rpmalloc(i32 8)
  %g = call ptr @tc_valloc(i64 8)
  %h = call ptr @mi_malloc(i64 8)
  ret void
}

; The block is stored at the address %out if the result is 0. Otherwise %out may
; be NULL, and is not read.
; CHECK-LABEL: define i32 @out(
; CHECK: %r = call i32 @je_posix_memalign(ptr %out, i64 64, i64 100)
; CHECK: store ptr null, ptr %[[NONE:[0-9a-z]+]]
; CHECK: %[[OK:.*]] = icmp eq i32 %r, 0
; CHECK: %[[AT:.*]] = select i1 %[[OK]], ptr %out, ptr %[[NONE]]
; CHECK: %[[P:.*]] = load ptr, ptr %[[AT]], align 1
; CHECK: call void @__mprof_custom_alloc(ptr %[[P]], i64 100)
define i32 @out(ptr %out) {
  %r = call i32 @je_posix_memalign(ptr %out, i64 64, i64 100)
  ret i32 %r
}

; The malloc inside an allocator is not counted.
; CHECK-LABEL: define ptr @mi_zalloc(
; CHECK-NOT: __mprof_malloc
; CHECK: ret ptr
define ptr @mi_zalloc(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

define internal ptr @mi_malloc(i64 %n) noinline {
  ret ptr null
}

declare ptr @je_malloc(i64)
declare ptr @mi_calloc(i64, i64)
declare ptr @rprealloc(ptr, i64)
declare ptr @sn_reallocarray(ptr, i64, i64)
declare void @tc_free(ptr)
declare ptr @rpmalloc(i32)
declare ptr @tc_valloc(i64)
declare i32 @je_posix_memalign(ptr, i64, i64)
declare ptr @malloc(i64)
