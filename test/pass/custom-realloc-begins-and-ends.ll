; Intent: for a call of a function with mprof_realloc, the runtime removes the
; old block before the call and counts the new block afterwards. One condition
; decides about both. If the function throws, no new block is counted.
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.a = private constant [18 x i8] c"mprof.realloc:0,1\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @resize, ptr @.a, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-LABEL: define ptr @f(
; CHECK: %[[D:.*]] = sub i64 %[[OLD:.*]], %n
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[OLD]], %n
; CHECK: load i64, ptr @__mprof_custom_mask
; CHECK: %[[C:.*]] = or i1 %[[OUT]], %{{.*}}
; CHECK: br i1 %[[C]], label %[[BEGIN:.*]], label %[[CALL:.*]], !prof
; CHECK: [[BEGIN]]:
; CHECK-NEXT: %[[T:.*]] = notail call i64 @__mprof_custom_realloc_begin(ptr %p)
; CHECK: [[CALL]]:
; CHECK-NEXT: %[[TOKEN:.*]] = phi i64
; CHECK-SAME: [ %[[T]], %[[BEGIN]] ]
; CHECK-NEXT: %q = invoke ptr @resize(ptr %p, i64 %n)
; CHECK-NEXT: to label %[[CONT:.*]] unwind label %unwind
; CHECK: [[CONT]]:
; CHECK-NEXT: br i1 %[[C]], label %[[END:.*]], label %{{.*}}, !prof
; CHECK: [[END]]:
; CHECK-NEXT: call void @__mprof_custom_realloc_end(i64 %[[TOKEN]], ptr %p, ptr %q, i64 %n, i64 %[[D]])
; CHECK: phi ptr [ null, %entry ], [ %q, %{{.*}} ]
; CHECK: unwind:
; CHECK-NOT: __mprof
; CHECK: resume
define ptr @f(i1 %c, ptr %p, i64 %n) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %alloc, label %done
alloc:
  %q = invoke ptr @resize(ptr %p, i64 %n) to label %done unwind label %unwind
done:
  %r = phi ptr [ null, %entry ], [ %q, %alloc ]
  ret ptr %r
unwind:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}

declare ptr @resize(ptr, i64)
declare i32 @__gxx_personality_v0(...)
