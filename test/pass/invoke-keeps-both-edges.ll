; Intent: if operator new is called by an invoke instruction, both the original
; call and the call of the runtime become invokes. The phis at the normal and at
; the unwind destination have values for both.
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

define ptr @f(i1 %c, i64 %n) personality ptr @__gxx_personality_v0 {
; CHECK-LABEL: define ptr @f(
; CHECK: %[[P:.*]] = invoke ptr %{{.*}}(i64 %n)
; CHECK-NEXT: to label %[[CONT:.*]] unwind label %unwind
; CHECK: [[CONT]]:
; CHECK-NEXT: %[[R:.*]] = phi ptr [ %[[P]], %[[FAST:.*]] ], [ %[[Q:.*]], %[[COLD:.*]] ]
; CHECK: normal:
; CHECK: phi i32 [ 0, %entry ], [ 1, %[[CONT]] ]
; CHECK: phi ptr [ null, %entry ], [ %[[R]], %[[CONT]] ]
; CHECK: unwind:
; CHECK: phi i32 [ 7, %[[FAST]] ], [ 8, %other ], [ 7, %[[COLD]] ]
; CHECK: [[COLD]]:
; CHECK-NEXT: %[[Q]] = invoke ptr @__mprof__Znwm(i64 %n) #[[ATTRS:[0-9]+]]
; CHECK-NEXT: to label %[[CONT]] unwind label %unwind
; CHECK: attributes #[[ATTRS]] = { {{.*}}nomerge
entry:
  br i1 %c, label %alloc, label %normal
alloc:
  %p = invoke ptr @_Znwm(i64 %n) to label %normal unwind label %unwind
normal:
  %v = phi i32 [ 0, %entry ], [ 1, %alloc ]
  %r = phi ptr [ null, %entry ], [ %p, %alloc ]
  invoke void @use(ptr %r, i32 %v) to label %done unwind label %other
other:
  %l1 = landingpad { ptr, i32 } cleanup
  invoke void @use(ptr null, i32 0) to label %done unwind label %unwind
done:
  ret ptr %r
unwind:
  %why = phi i32 [ 7, %alloc ], [ 8, %other ]
  %l2 = landingpad { ptr, i32 } cleanup
  call void @use(ptr null, i32 %why)
  resume { ptr, i32 } %l2
}

declare ptr @_Znwm(i64)
declare void @use(ptr, i32)
declare i32 @__gxx_personality_v0(...)
