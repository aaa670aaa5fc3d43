; Intent: main stores its frame address at its begin, so that the unwinder stops
; there. At each return it stores NULL.
; RUN: split-file %s %t
; RUN: %opt_mprof %t/main.ll | FileCheck %t/main.ll
; RUN: %opt_mprof %t/static.ll | FileCheck %t/static.ll --implicit-check-not=__mprof_main_frame
;--- main.ll
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @main(
; CHECK: alloca
; CHECK-NEXT: %[[F:.*]] = call ptr @llvm.frameaddress.p0(i32 0)
; CHECK-NEXT: store ptr %[[F]], ptr @__mprof_main_frame
; CHECK: store ptr null, ptr @__mprof_main_frame
; CHECK-NEXT: ret i32 0
; CHECK: store ptr null, ptr @__mprof_main_frame
; CHECK-NEXT: musttail call i32 @g(
define i32 @main(i32 %argc, ptr %argv) {
  %x = alloca i32
  %c = icmp eq i32 %argc, 1
  br i1 %c, label %one, label %two
one:
  ret i32 0
two:
  %r = musttail call i32 @g(i32 1, ptr null)
  ret i32 %r
}
declare i32 @g(i32, ptr)
;--- static.ll
target triple = "x86_64-pc-linux-gnu"
; CHECK: define internal i32 @main
@keep = global ptr @main
define internal i32 @main() {
  ret i32 0
}
