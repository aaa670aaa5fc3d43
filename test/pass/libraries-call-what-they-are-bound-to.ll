; Intent: in code for shared libraries, each allocation function has two
; pointers: to the original function and to the runtime's function. They are set
; at the first call. If the library itself defines the function, the second
; pointer leads to code that drops the sample. Code for executables has no such
; pointers. No constructor is needed.
;
; RUN: %opt_mprof %s > %t && FileCheck %s < %t
; RUN: not grep -q global_ctors %t
; RUN: grep -v 'PIC Level' %s | grep -v llvm.module.flags > %t.ll
; RUN: %opt_mprof %t.ll > %t.out
; RUN: not grep -q ^@mprof.hook %t.out

target triple = "x86_64-unknown-linux-gnu"

; CHECK-DAG: @mprof.hook.malloc = internal global [7 x ptr] [ptr getelementptr inbounds ([7 x ptr], ptr @mprof.hook.malloc, i64 0, i64 2), ptr @mprof.lazy_entry.malloc, ptr @mprof.lazy.malloc, ptr @__mprof_next_malloc, ptr @__mprof_malloc, ptr @malloc, ptr @mprof.own_entry.malloc]
; CHECK-DAG: @mprof.hook.free = internal global [7 x ptr] [{{.*}}, ptr @mprof.lazy_entry.free, ptr @mprof.lazy.free, ptr @__mprof_next_free, ptr @__mprof_free, ptr @free, ptr @free]

; CHECK-LABEL: define ptr @f(
; CHECK: mprof.fast:
; CHECK: %[[WORD:.*]] = load ptr, ptr @mprof.hook.malloc
; CHECK: %[[NEXT:.*]] = load ptr, ptr %[[WORD]]
; CHECK-NEXT: %[[NEXTR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[NEXT]])
; CHECK: call noalias ptr %[[NEXTR]](i64 %n)
; CHECK: mprof.cold:
; CHECK: %[[ENTRY:.*]] = load ptr, ptr getelementptr inbounds ([7 x ptr], ptr @mprof.hook.malloc, i32 0, i32 1)
; CHECK: notail call noalias ptr %[[ENTRY]](i64 %n)
define ptr @f(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

define void @g(ptr %p) {
  call void @free(ptr %p)
  ret void
}

; CHECK-LABEL: define internal ptr @mprof.own_entry.malloc(
; CHECK: call void @__mprof_drop_sample(i64 %[[SIZE:.*]])
; CHECK: musttail call ptr @malloc(i64 %[[SIZE]])
; CHECK-LABEL: define internal ptr @mprof.lazy.malloc(
; CHECK: call void @__mprof_module_binds(ptr @mprof.hook.malloc)
; CHECK: %[[W:.*]] = load ptr, ptr @mprof.hook.malloc
; CHECK: %[[F:.*]] = load ptr, ptr %[[W]]
; CHECK: musttail call ptr %[[F]](
; CHECK-LABEL: define internal ptr @mprof.lazy_entry.malloc(
; CHECK: musttail call ptr %{{.*}}(

declare noalias ptr @malloc(i64)
declare void @free(ptr)

!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
