; Intent: in code for executables, free calls the runtime only if the pointer is
; not NULL and is on a page boundary. Of a pointer that is NULL, free is not
; called at all. A free that could become a jump and operator delete test a mask.
; Neither uses the countdown.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not=heap_countdown
target triple = "x86_64-pc-linux-gnu"

define void @f(ptr %p) {
; CHECK-LABEL: define void @f(
; CHECK-NOT: load
; CHECK: %[[I:.*]] = ptrtoint ptr %p to i32
; CHECK: %[[A:.*]] = and i32 %[[I]], 4095
; CHECK: %[[NONE:.*]] = icmp eq i32 %[[A]], 0
; CHECK: br i1 %[[NONE]], label %[[MASKED:.*]], label %[[FAST:.*]], !prof
; CHECK: [[FAST]]:
; CHECK-NEXT: %[[F:.*]] = load ptr, ptr @__mprof_free_off_page
; CHECK-NEXT: %[[FR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[F]])
; CHECK-NEXT: notail call void %[[FR]](ptr %p)
; CHECK-NEXT: br label %[[CONT:[^,]*]]
; CHECK: [[CONT]]:
; CHECK-NEXT: ret void
; CHECK: [[MASKED]]:
; CHECK-NEXT: %[[NULL:.*]] = icmp eq ptr %p, null
; CHECK-NEXT: br i1 %[[NULL]], label %[[CONT]], label %[[COLD:[^,]*]],
; CHECK: [[COLD]]:
; CHECK-NEXT: call void @__mprof_free(ptr %p)
  call void @free(ptr %p)
  ret void
}

; The runtime's entry, to which free_off_page may point, needs the caller's frame.
define void @t(ptr %p) {
; CHECK-LABEL: define void @t(
; CHECK: load i64, ptr @__mprof_free_mask
; CHECK: load ptr, ptr @__mprof_next_free
; CHECK: tail call void
  tail call void @free(ptr %p)
  ret void
}

; No second test is needed for a pointer that cannot be NULL.
define void @n(ptr nonnull %p) {
; CHECK-LABEL: define void @n(
; CHECK: br i1 %{{.*}}, label %[[COLD:.*]], label %[[FAST:.*]], !prof
; CHECK-NOT: null
; CHECK: [[COLD]]:
; CHECK-NEXT: call void @__mprof_free(ptr %p)
  call void @free(ptr %p)
  ret void
}

; With -fno-builtin, the code must not assume that free(NULL) does nothing.
define void @b(ptr %p) {
; CHECK-LABEL: define void @b(
; CHECK: br i1 %{{.*}}, label %[[MASKED:.*]], label %[[FAST:.*]], !prof
; CHECK: [[MASKED]]:
; CHECK: br i1 %{{.*}}, label %[[FAST]], label %{{[^,]*}},
  call void @free(ptr %p) nobuiltin
  ret void
}

define void @d(ptr %p) {
; CHECK-LABEL: define void @d(
; CHECK: load i64, ptr @__mprof_delete_mask
; CHECK: %[[F2:.*]] = load ptr, ptr @__mprof_next__ZdlPvm
; CHECK-NEXT: %[[F2R:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[F2]])
; CHECK-NEXT: call void %[[F2R]](ptr %p, i64 8)
; CHECK: call void @__mprof__ZdlPvm(ptr %p, i64 8)
  call void @_ZdlPvm(ptr %p, i64 8)
  ret void
}

declare void @free(ptr)
declare void @_ZdlPvm(ptr, i64)
