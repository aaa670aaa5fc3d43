; Intent: allocations of an ignored function are not counted, not even by the
; interceptors. Reallocations and frees in the function are counted. The
; ignorelist names the function with fun: or its source file with src:.
; RUN: split-file %s %t
; RUN: %opt_mprof -mprof-ignorelist=%t/fun.txt %t/a.ll | FileCheck %t/a.ll
; RUN: %opt_mprof -mprof-ignorelist=%t/src.txt %t/a.ll | FileCheck %t/a.ll
; RUN: %opt_mprof -mprof-ignorelist=%t/none.txt -mprof-ignorelist=%t/fun.txt %t/a.ll | FileCheck %t/a.ll
; RUN: %opt_mprof -mprof-ignorelist=%t/none.txt %t/a.ll | FileCheck %t/a.ll --check-prefix=COUNTED
; RUN: %opt_mprof -mprof-ignorelist=%t/fun.txt %t/a.ll -pass-remarks-missed=mprof 2>&1 | FileCheck %t/a.ll --check-prefix=REMARK
;--- fun.txt
[mprof]
fun:ign*
;--- src.txt
[mprof]
src:*/lib/a.c
;--- none.txt
[address]
fun:ign*
[mprof]
src:*/other.c
;--- a.ll
source_filename = "/x/lib/a.c"
target triple = "x86_64-pc-linux-gnu"
; CHECK-LABEL: define void @ignored(
; CHECK-NEXT: [[M:%.*]] = load ptr, ptr @__mprof_next_malloc,
; CHECK-NEXT: [[MR:%.*]] = call ptr asm "", "=r,0{{.*}}"(ptr [[M]])
; CHECK-NEXT: %a = call ptr [[MR]](i64 8)
; CHECK-NEXT: [[D:%.*]] = load ptr, ptr @__mprof_next_strdup,
; CHECK-NEXT: [[DR:%.*]] = call ptr asm "", "=r,0{{.*}}"(ptr [[D]])
; CHECK-NEXT: %b = call ptr [[DR]](ptr %p)
; CHECK-DAG: call ptr @__mprof_realloc(
; CHECK-DAG: call void @__mprof_free(ptr %b)
; COUNTED: call ptr @__mprof_strdup(
; COUNTED: call ptr @__mprof_malloc(
; REMARK: malloc not rewritten: the calling function has the attribute mprof_ignore or is on the ignorelist
; REMARK: strdup not rewritten: the calling function has the attribute mprof_ignore or is on the ignorelist
define void @ignored(ptr %p) {
  %a = call ptr @malloc(i64 8)
  %b = call ptr @strdup(ptr %p)
  %c = call ptr @realloc(ptr %a, i64 16)
  call void @free(ptr %b)
  ret void
}
declare ptr @malloc(i64)
declare ptr @strdup(ptr)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
