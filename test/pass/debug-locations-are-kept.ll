; Intent: all code that is inserted for a call has the call's source line. A
; debugger shows the result of the call whether the runtime is called or not.
; LLVM 16 does not read #dbg_value.
; UNSUPPORTED: clang-16
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s --check-prefixes=CHECK,%ARCH
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define ptr @f(
; X86_64: threadlocal.address{{.*}} !dbg ![[L:[0-9]+]]
; X86_64: load i64{{.*}} !dbg ![[L]]
; AARCH64: asm {{.*}}mrs{{.*}} !dbg ![[L:[0-9]+]]
; AARCH64: asm {{.*}}ldr{{.*}} !dbg ![[L]]
; CHECK: sub i64{{.*}} !dbg ![[L]]
; X86_64: store i64{{.*}} !dbg ![[L]]
; AARCH64: asm {{.*}}str{{.*}} !dbg ![[L]]
; CHECK: icmp{{.*}} !dbg ![[L]]
; CHECK: br i1{{.*}} !dbg ![[L]]
; CHECK: load ptr, ptr @__mprof_next_malloc{{.*}} !dbg ![[L]]
; CHECK: call ptr %{{.*}}(i64 %n){{.*}} !dbg ![[L]]
; CHECK: br label{{.*}} !dbg ![[L]]
; CHECK: %[[R:.*]] = phi ptr{{.*}} !dbg ![[L]]
; CHECK: #dbg_value(ptr %[[R]],
; CHECK: @__mprof_malloc({{.*}} !dbg ![[L]]
; CHECK: br label{{.*}} !dbg ![[L]]
; CHECK: ![[L]] = !DILocation(line: 18,
define ptr @f(i64 %n) !dbg !3 {
  %p = call ptr @malloc(i64 %n), !dbg !6
    #dbg_value(ptr %p, !7, !DIExpression(), !6)
  ret ptr %p, !dbg !9
}
declare ptr @malloc(i64)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 16, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{}
!6 = !DILocation(line: 18, column: 3, scope: !3)
!7 = !DILocalVariable(name: "p", scope: !3, file: !1, line: 18, type: !8)
!8 = !DIBasicType(name: "p", size: 64, encoding: DW_ATE_address)
!9 = !DILocation(line: 18, column: 3, scope: !3)
