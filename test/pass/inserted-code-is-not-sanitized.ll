; Intent: sanitizers do not instrument code that the pass inserts, whether they
; run before or after the pass.
; ThreadSanitizer of LLVM 16 instruments loads with !nosanitize, too. The runtime is
; not instrumented, so there are no reports.
; UNSUPPORTED: clang-16
; RUN: %opt_mprof %s -o %t.ll
; RUN: FileCheck %s --check-prefixes=CHECK,%ARCH < %t.ll
; RUN: opt -passes=tsan -S %t.ll | FileCheck %s --check-prefix=AFTER
; RUN: opt -passes=asan -S %t.ll | FileCheck %s --check-prefix=AFTER
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define ptr @f(
; X86_64: call i8 asm {{.*}}!nosanitize
; AARCH64: asm {{.*}}mrs{{.*}}!nosanitize
; AARCH64: asm {{.*}}ldr{{.*}}!nosanitize
; AARCH64: asm {{.*}}str{{.*}}!nosanitize
; CHECK: load i64, ptr @__mprof_free_mask{{.*}}!nosanitize
; CHECK: br i1 {{.*}}!nosanitize
; AFTER-LABEL: define ptr @f(
; AFTER-NOT: {{__tsan_(read|write)|__asan_(load|store|report)}}
; AFTER: ret ptr
define ptr @f(ptr %q) sanitize_thread sanitize_address {
  %p = call ptr @realloc(ptr %q, i64 1)
  ret ptr %p
}
declare ptr @realloc(ptr, i64)
