; Intent: an allocation subtracts its size from the countdown. It calls the
; runtime only if the countdown was less than or equal to the size. Both are
; compared as unsigned numbers.
; RUN: %opt_mprof %s | FileCheck %s --check-prefixes=CHECK,%ARCH
target triple = "x86_64-pc-linux-gnu"

; X86_64: @__mprof_heap_countdown = external dso_local thread_local(localexec) global i64

define ptr @f(i64 %n) {
; CHECK-LABEL: define ptr @f(
; X86_64: %[[A:.*]] = call ptr @llvm.threadlocal.address.p0(ptr @__mprof_heap_countdown)
; X86_64: %[[C:.*]] = load i64, ptr %[[A]]
; AARCH64: %[[A:.*]] = call ptr asm sideeffect "mrs $0, TPIDR_EL0
; AARCH64: %[[C:.*]] = call i64 asm sideeffect "ldr {{.*}}:__mprof_heap_countdown]", {{.*}}(ptr %[[A]])
; CHECK: %[[D:.*]] = sub i64 %[[C]], %n
; X86_64: store i64 %[[D]], ptr %[[A]]
; AARCH64: call void asm sideeffect "str {{.*}}:__mprof_heap_countdown]", {{.*}}(ptr %[[A]], i64 %[[D]])
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[C]], %n
; CHECK: br i1 %[[OUT]], label %[[COLD:.*]], label %[[FAST:.*]], !prof ![[W:[0-9]+]]
; CHECK: [[FAST]]:
; CHECK-NEXT: %[[F:.*]] = load ptr, ptr @__mprof_next_malloc
; CHECK-NEXT: %[[FR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[F]])
; CHECK-NEXT: %[[P:.*]] = call ptr %[[FR]](i64 %n)
; CHECK: %[[R:.*]] = phi ptr [ %[[P]], %[[FAST]] ], [ %[[Q:.*]], %[[COLD]] ]
; CHECK: ret ptr %[[R]]
; CHECK: [[COLD]]:
; CHECK-NEXT: %[[Q]] = notail call ptr @__mprof_malloc(i64 %n) #[[ATTRS:[0-9]+]]
; CHECK: attributes #[[ATTRS]] = { {{.*}}cold nomerge
; CHECK: ![[W]] = !{!"branch_weights", i32 1, i32 1048575}
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}

declare ptr @malloc(i64)
