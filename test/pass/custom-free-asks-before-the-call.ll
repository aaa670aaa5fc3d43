; Intent: a rewritten call of a function with mprof_free tells the runtime about
; the free before the function runs. Otherwise the allocator could hand out the
; block again while the block is still in the profile.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [13 x i8] c"mprof.free:1\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @pool_put, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-LABEL: define void @f(
; CHECK: %[[M:.*]] = load i64, ptr @__mprof_custom_mask
; CHECK: %[[I:.*]] = ptrtoint ptr %p to i64
; CHECK: and i64 %[[I]], %[[M]]
; CHECK: br i1 %{{.*}}, label %[[COLD:.*]], label %[[CALL:.*]], !prof
; CHECK: [[COLD]]:
; CHECK-NEXT: call void @__mprof_custom_free(ptr %p)
; CHECK-NEXT: br label %[[CALL]]
; CHECK: [[CALL]]:
; CHECK-NEXT: call void @pool_put(ptr %pool, ptr %p)
; CHECK-NOT: @pool_put
; CHECK: ret void
define void @f(ptr %pool, ptr %p) {
  call void @pool_put(ptr %pool, ptr %p)
  ret void
}

declare void @pool_put(ptr, ptr)
