; Intent: the pass does not change bitcode that it has already rewritten, as
; happens with LTO. The plugin may be given twice.
; RUN: %opt_mprof %s -o %t.once.ll
; RUN: %opt_mprof %t.once.ll -o %t.twice.ll
; RUN: sed 1d %t.once.ll > %t.a && sed 1d %t.twice.ll > %t.b && cmp %t.a %t.b
; RUN: FileCheck %s < %t.twice.ll
target triple = "x86_64-pc-linux-gnu"

; CHECK-COUNT-1: call ptr @__mprof_malloc
; CHECK-NOT: call ptr @__mprof_malloc
; CHECK: !{i32 7, !"mprof", i32 2}
define ptr @f() {
  %p = call ptr @malloc(i64 8)
  ret ptr %p
}
declare ptr @malloc(i64)
