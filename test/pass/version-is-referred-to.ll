; Intent: an object with rewritten code needs a runtime with its version of the
; contract. The reference survives the linker and names the version. A module
; without rewritten code has no reference.
; RUN: split-file %s %t
; RUN: %opt_mprof %t/site.ll | FileCheck %t/site.ll
; RUN: %opt_mprof %t/none.ll | FileCheck %t/none.ll --implicit-check-not=__mprof_
;--- site.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK: $__mprof_abi_v[[V:[0-9]+]]_reference = comdat any
; CHECK: @__mprof_abi_v[[V]] = external constant i8
; CHECK: @__mprof_abi_v[[V]]_reference = linkonce_odr hidden constant ptr @__mprof_abi_v[[V]], comdat
; CHECK: @llvm.used = appending global {{.*}} @__mprof_abi_v[[V]]_reference
define void @f(ptr %p) {
  call void @free(ptr %p)
  ret void
}
declare void @free(ptr)
;--- none.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK: define void @f
define void @f() {
  ret void
}
declare void @free(ptr)
