; Intent: the site of strdup or strndup measures the string, and subtracts the
; size of the copy from the countdown as a site of malloc does. If no sample is
; due, the site makes the copy itself. Otherwise it adds the size to the
; countdown again and calls the entry, which measures the string. strdup is still
; linked, because the entry calls it.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not="call ptr @str"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @mprof.keep.strdup = private constant ptr @strdup

define ptr @f(ptr %s) {
; CHECK-LABEL: define ptr @f(
; CHECK: %[[LEN:.*]] = call i64 @strlen(ptr %s)
; CHECK-NEXT: %[[N:.*]] = add i64 %[[LEN]], 1
; CHECK: sub i64 %[[OLD:.*]], %[[N]]
; CHECK: %[[ASK:.*]] = icmp ule i64 %[[OLD]], %[[N]]
; CHECK: br i1 %[[ASK]], label %[[COLD:.*]], label %[[FAST:.*]], !prof
; CHECK: [[FAST]]:
; CHECK-NEXT: %[[MALLOC:.*]] = load ptr, ptr @__mprof_next_malloc
; CHECK-NEXT: %[[P:.*]] = call noalias ptr %[[MALLOC]](i64 %[[N]])
; CHECK-NEXT: %[[OK:.*]] = icmp ne ptr %[[P]], null
; CHECK-NEXT: br i1 %[[OK]], label %[[COPY:.*]], label %[[COPIED:[^ ,]*]]
; CHECK: [[COPY]]:
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr align 1 %[[P]], ptr align 1 %s, i64 %[[N]],
; CHECK-NEXT: br label %[[COPIED]]
; CHECK: phi ptr [ %[[P]], %[[COPIED]] ], [ %[[Q:.*]], %[[COLD]] ]
; CHECK: [[COLD]]:
; CHECK: add i64 %{{.*}}, %[[N]]
; CHECK-NEXT: store i64
; CHECK-NEXT: %[[Q]] = notail call ptr @__mprof_strdup(ptr %s)
  %p = tail call ptr @strdup(ptr %s)
  ret ptr %p
}

define ptr @n(ptr %s, i64 %max) {
; CHECK-LABEL: define ptr @n(
; CHECK: %[[LEN:.*]] = call i64 @strnlen(ptr %s, i64 %max)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 1 %[[P:.*]], ptr align 1 %s, i64 %[[LEN]],
; CHECK-NEXT: %[[END:.*]] = getelementptr inbounds i8, ptr %[[P]], i64 %[[LEN]]
; CHECK-NEXT: store i8 0, ptr %[[END]]
; CHECK: notail call ptr @__mprof_strndup(ptr %s, i64 %max)
  %p = call ptr @strndup(ptr %s, i64 %max)
  ret ptr %p
}

; The site always calls the entry where the compiler must not assume what strdup
; does, where a sanitizer watches strdup, and where size matters more than time.
define ptr @no_builtin(ptr %s) {
; CHECK-LABEL: define ptr @no_builtin(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s) nobuiltin
  ret ptr %p
}
define ptr @sanitized(ptr %s) sanitize_memory {
; CHECK-LABEL: define ptr @sanitized(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}
define ptr @small(ptr %s) optsize {
; CHECK-LABEL: define ptr @small(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}
define ptr @wide(ptr %s) {
; CHECK-LABEL: define ptr @wide(
; CHECK-NEXT: notail call ptr @__mprof_wcsdup(ptr %s)
  %p = call ptr @wcsdup(ptr %s)
  ret ptr %p
}

declare ptr @strdup(ptr)
declare ptr @strndup(ptr, i64)
declare ptr @wcsdup(ptr)
