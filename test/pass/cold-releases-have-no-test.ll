; Intent: a rewritten free calls the runtime without a test where only code size
; matters. These places are code that runs only while unwinding, cold functions,
; and code compiled with -Oz. Code that is also reached without unwinding keeps
; the test.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @f(
; CHECK: unwind:
; CHECK: call void @__mprof__ZdlPv(ptr %p)
; CHECK-NEXT: br i1 %c, label %done, label %out
; CHECK: done:
; CHECK: load i64, ptr @__mprof_delete_mask
define void @f(ptr %p, ptr %q, i1 %c) personality ptr @__gxx_personality_v0 {
  invoke void @g() to label %done unwind label %unwind
unwind:
  %l = landingpad { ptr, i32 } cleanup
  call void @_ZdlPv(ptr %p)
  br i1 %c, label %done, label %out
out:
  resume { ptr, i32 } %l
done:
  call void @_ZdlPv(ptr %q)
  ret void
}

; CHECK-LABEL: define void @small(
; CHECK-NEXT: call void @__mprof_free(ptr %p)
define void @small(ptr %p) minsize optsize {
  call void @free(ptr %p)
  ret void
}

; CHECK-LABEL: define void @cold(
; CHECK-NEXT: call void @__mprof_free(ptr %p)
define void @cold(ptr %p) cold {
  call void @free(ptr %p)
  ret void
}

declare void @g()
declare void @_ZdlPv(ptr)
declare void @free(ptr)
declare i32 @__gxx_personality_v0(...)
