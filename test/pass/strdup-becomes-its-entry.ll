; Intent: strdup always becomes a call of the runtime's __mprof_strdup, because
; the size of the copy is not known before. strdup itself is still linked,
; because __mprof_strdup calls it.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not="call ptr @strdup"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @mprof.keep.strdup = private constant ptr @strdup

define ptr @f(ptr %s) {
; CHECK: define ptr @f(
; CHECK-NEXT: %p = notail call ptr @__mprof_strdup(ptr %s)
; CHECK-NEXT: ret ptr %p
  %p = tail call ptr @strdup(ptr %s)
  ret ptr %p
}

declare ptr @strdup(ptr)
