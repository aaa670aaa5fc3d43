; Intent: if an allocation is not sampled, the program calls the original
; function through a pointer such as __mprof_next_malloc. The original function
; is still linked. A function that the module itself defines is called directly.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
; CHECK-DAG: @__mprof_next_malloc = external dso_local global ptr
; CHECK-DAG: @mprof.keep.malloc = private constant ptr @malloc
define ptr @f() {
; CHECK-LABEL: define ptr @f(
; CHECK: %[[F:.*]] = load ptr, ptr @__mprof_next_malloc, align 8
; CHECK-NEXT: %[[FR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[F]])
; CHECK-NEXT: call ptr %[[FR]](i64 {{1|%.*}})
; CHECK: call void @free(ptr %p)
  %p = call ptr @malloc(i64 1)
  call void @free(ptr %p)
  ret ptr %p
}
declare ptr @malloc(i64)
define void @free(ptr %p) {
  ret void
}
