; Intent: code of an executable accesses the runtime's variables directly. Code
; of a library accesses them through the GOT.
; RUN: split-file %s %t
; RUN: cat %t/f.ll %t/pic.ll > %t/a.ll && %opt_mprof %t/a.ll | FileCheck %s --check-prefixes=GOT,GOT-%ARCH
; RUN: cat %t/f.ll %t/pie.ll > %t/b.ll && %opt_mprof %t/b.ll | FileCheck %s --check-prefixes=DIRECT,DIRECT-%ARCH
; RUN: cat %t/f.ll > %t/c.ll && %opt_mprof %t/c.ll | FileCheck %s --check-prefixes=DIRECT,DIRECT-%ARCH
; RUN: cat %t/f.ll %t/got.ll > %t/d.ll && %opt_mprof %t/d.ll | FileCheck %s --check-prefixes=GOT,GOT-%ARCH
; GOT-X86_64-DAG: @__mprof_heap_countdown = external thread_local(initialexec) global i64
; DIRECT-X86_64-DAG: @__mprof_heap_countdown = external dso_local thread_local(localexec) global i64
; GOT-DAG: @__mprof_free_mask = external global i64
; DIRECT-DAG: @__mprof_free_mask = external dso_local global i64
; GOT-AARCH64: asm {{.*}}:gottprel:__mprof_heap_countdown
; DIRECT-AARCH64: asm {{.*}}:tprel_hi12:__mprof_heap_countdown
;--- f.ll
target triple = "x86_64-pc-linux-gnu"
define ptr @f(ptr %q) {
  %p = call ptr @realloc(ptr %q, i64 1)
  ret ptr %p
}
declare ptr @realloc(ptr, i64)
;--- pic.ll
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
;--- pie.ll
!llvm.module.flags = !{!0, !1}
!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 7, !"PIE Level", i32 2}
;--- got.ll
!llvm.module.flags = !{!0, !1, !2}
!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 7, !"PIE Level", i32 2}
!2 = !{i32 7, !"direct-access-external-data", i32 0}
