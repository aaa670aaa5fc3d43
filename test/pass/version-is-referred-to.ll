; Intent: an object with rewritten code refers to a symbol that names the
; version of the runtime that it needs. The linker keeps this reference. The
; object also refers to a symbol whose name is an error text. If the runtime is
; missing, the linker names this undefined symbol and so shows the text. A module
; without rewritten code has neither reference.
; RUN: split-file %s %t
; RUN: %opt_mprof %t/site.ll | FileCheck %t/site.ll
; RUN: %opt_mprof %t/library.ll | FileCheck %t/library.ll
; RUN: %opt_mprof %t/none.ll | FileCheck %t/none.ll --implicit-check-not=__mprof_
;--- site.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK: $__mprof_abi_v[[V:[0-9]+]]_reference_program = comdat any
; CHECK-DAG: @"__mprof_runtime is missing: link with mprof-clang -fmprof" = external constant i8
; CHECK-DAG: @__mprof_abi_v[[V]] = external constant i8
; CHECK-DAG: @__mprof_is_program = external constant i8
; CHECK: @__mprof_abi_v[[V]]_reference_program = linkonce_odr hidden constant [3 x ptr] [ptr @"__mprof_runtime is missing: link with mprof-clang -fmprof", ptr @__mprof_abi_v[[V]], ptr @__mprof_is_program], comdat
; CHECK: @llvm.used = appending global {{.*}} @__mprof_abi_v[[V]]_reference_program
define void @f(ptr %p) {
  call void @free(ptr %p)
  ret void
}
declare void @free(ptr)
;--- library.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK-NOT: @__mprof_is_program
; CHECK: @__mprof_abi_v[[V:[0-9]+]]_reference = linkonce_odr hidden constant [2 x ptr] [ptr @"__mprof_runtime is missing: link with mprof-clang -fmprof", ptr @__mprof_abi_v[[V]]], comdat
; CHECK: @llvm.used = appending global {{.*}} @__mprof_abi_v[[V]]_reference
define void @f(ptr %p) {
  call void @free(ptr %p)
  ret void
}
declare void @free(ptr)
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
;--- none.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK: define void @f
define void @f() {
  ret void
}
declare void @free(ptr)
