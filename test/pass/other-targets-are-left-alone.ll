; Intent: code for a GPU in the same compilation is not rewritten, because its
; malloc is another function.
; RUN: %opt_mprof_as_is %s | FileCheck %s --implicit-check-not=mprof_ --implicit-check-not=frame-pointer --implicit-check-not=uwtable
target triple = "nvptx64-nvidia-cuda"

; CHECK: call ptr @malloc(i64 8)
define ptr @f() {
  %p = call ptr @malloc(i64 8)
  ret ptr %p
}
declare ptr @malloc(i64)
