; Intent: all code that is inserted for a lock, a wait or a release has the
; source line of the call. Sanitizers do not instrument this code. A debugger
; still finds the variable that holds the result of the call.
; LLVM 16 does not read #dbg_value.
; UNSUPPORTED: clang-16
; RUN: %opt_mprof %s | opt -passes=verify -S | FileCheck %s
; RUN: %opt_mprof %s | opt -passes=tsan -S | FileCheck %s --check-prefix=TSAN
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @lock(
; CHECK: %[[R:.*]] = notail call i32 @__mprof_stub_pthread_mutex_lock({{.*}} !dbg ![[L:[0-9]+]]
; CHECK: #dbg_value(i32 %[[R]],
define i32 @lock(ptr %l) sanitize_address !dbg !3 {
  %r = call i32 @pthread_mutex_lock(ptr %l), !dbg !6
    #dbg_value(i32 %r, !7, !DIExpression(), !6)
  ret i32 %r, !dbg !9
}

; CHECK-LABEL: define i32 @waits(
; CHECK: notail call i32 @__mprof_stub_sem_wait({{.*}} !dbg ![[W:[0-9]+]]
; TSAN-LABEL: define i32 @waits(
; TSAN-NOT: __tsan_read
; TSAN: ret i32
define i32 @waits(ptr %s) nounwind sanitize_thread !dbg !10 {
  %r = call i32 @sem_wait(ptr %s), !dbg !11
  ret i32 %r, !dbg !11
}

; CHECK-LABEL: define i32 @release(
; CHECK: load i32{{.*}}@__mprof_switch_sem_post{{.*}} !dbg ![[U:[0-9]+]]{{.*}}!nosanitize
; CHECK: icmp{{.*}} !dbg ![[U]]{{.*}}!nosanitize
; CHECK: br i1{{.*}} !dbg ![[U]]
; CHECK: load ptr, ptr @__mprof_switch_sem_post{{.*}} !dbg ![[U]]{{.*}}!nosanitize
; CHECK: tail call i32 %{{.*}} !dbg ![[U]]
; CHECK: br label{{.*}} !dbg ![[U]]
; CHECK: %[[R:.*]] = phi i32{{.*}} !dbg ![[U]]
; CHECK: #dbg_value(i32 %[[R]],
; CHECK: notail call i32 @__mprof_stub_sem_post({{.*}} !dbg ![[U]]
; CHECK: br label{{.*}} !dbg ![[U]]
; TSAN-LABEL: define i32 @release(
; TSAN-NOT: __tsan_read
; TSAN: ret i32
define i32 @release(ptr %s) nounwind sanitize_thread !dbg !12 {
  %r = tail call i32 @sem_post(ptr %s), !dbg !13
    #dbg_value(i32 %r, !14, !DIExpression(), !13)
  ret i32 %r, !dbg !13
}
; CHECK-DAG: ![[L]] = !DILocation(line: 17,
; CHECK-DAG: ![[W]] = !DILocation(line: 27,
; CHECK-DAG: ![[U]] = !DILocation(line: 37,

declare i32 @pthread_mutex_lock(ptr)
declare i32 @sem_wait(ptr)
declare i32 @sem_post(ptr)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "lock", file: !1, line: 16, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{}
!6 = !DILocation(line: 17, column: 3, scope: !3)
!7 = !DILocalVariable(name: "r", scope: !3, file: !1, line: 17, type: !8)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DILocation(line: 18, column: 3, scope: !3)
!10 = distinct !DISubprogram(name: "waits", file: !1, line: 26, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 27, column: 3, scope: !10)
!12 = distinct !DISubprogram(name: "release", file: !1, line: 36, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!13 = !DILocation(line: 37, column: 3, scope: !12)
!14 = !DILocalVariable(name: "r", scope: !12, file: !1, line: 37, type: !8)
