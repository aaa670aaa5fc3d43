; Intent: a call of a function with mprof_lock, mprof_unlock or mprof_blocking
; stays unchanged. Before and after the call, the runtime is called if the
; profile is on. The runtime's data about the wait is in the caller's frame.
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

@.l = private constant [13 x i8] c"mprof.lock:1\00", section "llvm.metadata"
@.u = private constant [15 x i8] c"mprof.unlock:0\00", section "llvm.metadata"
@.b = private constant [15 x i8] c"mprof.blocking\00", section "llvm.metadata"
@.f = private constant [2 x i8] c"f\00", section "llvm.metadata"
@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] [
  { ptr, ptr, ptr, i32, ptr } { ptr @take, ptr @.l, ptr @.f, i32 1, ptr null },
  { ptr, ptr, ptr, i32, ptr } { ptr @give, ptr @.u, ptr @.f, i32 1, ptr null },
  { ptr, ptr, ptr, i32, ptr } { ptr @fetch, ptr @.b, ptr @.f, i32 1, ptr null }], section "llvm.metadata"

; CHECK-LABEL: define i32 @lock(
; CHECK: %[[NOTES:.*]] = alloca [23 x i64]
; CHECK: %[[K:.*]] = load i64, ptr @__mprof_sync_kinds
; CHECK: %[[A:.*]] = and i64 %[[K]], 2048
; CHECK: %[[ASK:.*]] = icmp ne i64 %[[A]], 0
; CHECK: br i1 %[[ASK]], label %[[BEGIN:.*]], label %[[CALL:[^,]*]], !prof
; CHECK: [[BEGIN]]:
; CHECK-NEXT: notail call void @__mprof_user_lock_begin(ptr %[[NOTES]], ptr @take, ptr %l)
; CHECK-NEXT: br label %[[CALL]]
; CHECK: [[CALL]]:
; CHECK-NEXT: %r = call i32 @take(i32 7, ptr %l)
; CHECK-NEXT: br i1 %[[ASK]], label %[[END:.*]], label %[[REST:[^,]*]], !prof
; CHECK: [[END]]:
; CHECK-NEXT: notail call void @__mprof_user_lock_end(ptr %[[NOTES]])
; CHECK-NEXT: br label %[[REST]]
; CHECK: [[REST]]:
; CHECK-NEXT: ret i32 %r
define i32 @lock(ptr %l) {
  %r = call i32 @take(i32 7, ptr %l)
  ret i32 %r
}

; CHECK-LABEL: define void @unlock(
; CHECK: %[[NOTES:.*]] = alloca [23 x i64]
; CHECK: %[[I:.*]] = ptrtoint ptr %l to i64
; CHECK: %[[S:.*]] = lshr i64 %[[I]], 6
; CHECK: %[[M:.*]] = and i64 %[[S]], 1023
; CHECK: %[[P:.*]] = getelementptr inbounds i32, ptr @__mprof_waiters, i64 %[[M]]
; CHECK: %[[W:.*]] = load i32, ptr %[[P]]
; CHECK: %[[ASK:.*]] = icmp ne i32 %[[W]], 0
; CHECK: br i1 %[[ASK]],
; CHECK: call void @__mprof_user_unlock_begin(ptr %[[NOTES]], ptr @give, ptr %l)
; CHECK: call void @give(ptr %l)
; CHECK: br i1 %[[ASK]],
; CHECK: call void @__mprof_user_unlock_end(ptr %[[NOTES]])
define void @unlock(ptr %l) {
  call void @give(ptr %l)
  ret void
}

; CHECK-LABEL: define void @blocking(
; CHECK: %[[NOTES:.*]] = alloca [23 x i64]
; CHECK: %[[K:.*]] = load i64, ptr @__mprof_sync_kinds
; CHECK: and i64 %[[K]], 4194304
; CHECK: call void @__mprof_user_call_begin(ptr %[[NOTES]], ptr @fetch)
; CHECK: call void @fetch()
; CHECK: call void @__mprof_user_call_end(ptr %[[NOTES]])
define void @blocking() {
  call void @fetch()
  ret void
}

; In a loop, the notes are allocated once in the frame, not in each iteration.
; CHECK-LABEL: define void @rounds(
; CHECK-NEXT: %[[NOTES:.*]] = alloca [23 x i64]
; CHECK-NEXT: br label %loop
; CHECK-NOT: alloca
; CHECK: ret void
define void @rounds() {
  br label %loop
loop:
  call void @fetch()
  br i1 undef, label %loop, label %done
done:
  ret void
}

; The end function is called on the normal edge only, not in the landing pad.
; CHECK-LABEL: define i32 @invoked(
; CHECK: invoke i32 @take(i32 7, ptr %l)
; CHECK-NEXT: to label %[[OK:.*]] unwind label %bad
; CHECK: [[OK]]:
; CHECK: call void @__mprof_user_lock_end(
; CHECK: bad:
; CHECK-NOT: __mprof_
; CHECK: resume
; CHECK: }
define i32 @invoked(ptr %l) personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @take(i32 7, ptr %l) to label %ok unwind label %bad
ok:
  ret i32 %r
bad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; No code can follow a musttail call.
; CHECK-LABEL: define void @tail(
; CHECK-NEXT: musttail call void @give(ptr %l)
define void @tail(ptr %l) {
  musttail call void @give(ptr %l)
  ret void
}

declare i32 @take(i32, ptr)
declare void @give(ptr)
declare void @fetch()
declare i32 @__gxx_personality_v0(...)
