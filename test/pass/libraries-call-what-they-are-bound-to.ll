; Intent: in code for shared libraries, a call of the heap and its cold one go
; through fields that a constructor has the runtime set, and what stands in for
; the entry where the function is the library's alone gives the sample up; code
; for executables has none of it.
;
; RUN: %opt_mprof %s | FileCheck %s
; RUN: grep -v 'PIC Level' %s | grep -v llvm.module.flags > %t.ll
; RUN: %opt_mprof %t.ll > %t.out
; RUN: not grep -q ^@__mprof_module_ %t.out

target triple = "x86_64-unknown-linux-gnu"

; CHECK-DAG: $__mprof_module_malloc = comdat any
; CHECK-DAG: @__mprof_module_malloc = linkonce_odr hidden global { ptr, ptr, ptr, ptr } { ptr @__mprof_next_malloc, ptr @__mprof_malloc, ptr @malloc, ptr @__mprof_module_own_malloc }, comdat
; CHECK-DAG: @llvm.global_ctors = {{.*}} { i32 0, ptr @__mprof_module_binds_malloc, ptr @__mprof_module_binds_malloc }
; CHECK-DAG: @__mprof_module_free = linkonce_odr hidden global { ptr, ptr, ptr, ptr } { ptr @__mprof_next_free, ptr @__mprof_free, ptr @free, ptr @free }, comdat

; CHECK-LABEL: define ptr @f(
; CHECK: mprof.fast:
; CHECK: %[[WORD:.*]] = load ptr, ptr @__mprof_module_malloc
; CHECK: %[[NEXT:.*]] = load ptr, ptr %[[WORD]]
; CHECK: call noalias ptr %[[NEXT]](i64 %n)
; CHECK: mprof.cold:
; CHECK: %[[ENTRY:.*]] = load ptr, ptr getelementptr inbounds ({ ptr, ptr, ptr, ptr }, ptr @__mprof_module_malloc, i32 0, i32 1)
; CHECK: notail call noalias ptr %[[ENTRY]](i64 %n)
define ptr @f(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

define void @g(ptr %p) {
  call void @free(ptr %p)
  ret void
}

; CHECK-LABEL: define linkonce_odr hidden ptr @__mprof_module_own_malloc(
; CHECK-SAME: comdat($__mprof_module_malloc)
; CHECK: call void @__mprof_drop_sample(i64 %[[SIZE:.*]])
; CHECK: musttail call ptr @malloc(i64 %[[SIZE]])
; CHECK-LABEL: define linkonce_odr hidden void @__mprof_module_binds_malloc()
; CHECK-SAME: comdat($__mprof_module_malloc)
; CHECK: call void @__mprof_module_binds(ptr @__mprof_module_malloc)

declare noalias ptr @malloc(i64)
declare void @free(ptr)

!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
