; Intent: the site of strdup or strndup measures the string, and subtracts the
; size of the copy from the countdown as a site of malloc does. If no sample is
; due, the site of strdup copies the string itself, if the runtime has set the
; malloc to call. Otherwise, or if the string is NULL, the site calls strdup by
; the pointer of the runtime, and passes the size, which is 1 for NULL. If a
; sample is due, the site adds the size to the countdown again and calls the
; entry, which measures the string.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not="call ptr @str"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @mprof.keep.strdup = private constant ptr @strdup

define ptr @f(ptr %s) {
; CHECK-LABEL: define ptr @f(
; CHECK: %[[NULL:.*]] = icmp eq ptr %s, null
; CHECK: br i1 %[[NULL]], label %[[FAST:.*]], label %[[MEASURE:.*]], !prof
; CHECK: [[MEASURE]]:
; CHECK: %[[LEN:.*]] = call i64 @strlen(ptr %s)
; CHECK-NEXT: %[[N:.*]] = add i64 %[[LEN]], 1
; CHECK: sub i64 %[[OLD:.*]], %[[N]]
; CHECK: %[[ASK:.*]] = icmp ule i64 %[[OLD]], %[[N]]
; CHECK: br i1 %[[ASK]], label %[[COLD:.*]], label %[[INLINE:.*]], !prof
; CHECK: [[INLINE]]:
; CHECK-NEXT: %[[MALLOC:.*]] = load ptr, ptr @__mprof_copy_malloc
; CHECK-NEXT: %[[NONE:.*]] = icmp eq ptr %[[MALLOC]], null
; CHECK-NEXT: br i1 %[[NONE]], label %[[FAST]], label %[[ALLOCATE:.*]], !prof
; CHECK: [[ALLOCATE]]:
; CHECK-NEXT: %[[BLOCK:.*]] = call noalias ptr %[[MALLOC]](i64 %[[N]])
; CHECK-NEXT: %[[FAILED:.*]] = icmp eq ptr %[[BLOCK]], null
; CHECK-NEXT: br i1 %[[FAILED]], label %[[CONT:.*]], label %[[COPY:.*]], !prof
; CHECK: [[COPY]]:
; CHECK-NEXT: %[[COPIED:.*]] = call ptr @memcpy(ptr %[[BLOCK]], ptr %s, i64 %[[N]])
; CHECK-NEXT: br label %[[CONT]]
; CHECK: [[FAST]]:
; CHECK-NEXT: %[[SIZE:.*]] = phi i64 [ 1, %{{.*}} ], [ %[[N]], %[[INLINE]] ]
; CHECK-NEXT: %[[STRDUP:.*]] = load ptr, ptr @__mprof_sized_strdup
; CHECK-NEXT: %[[STRDUPR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[STRDUP]])
; CHECK-NEXT: %[[P:.*]] = call ptr %[[STRDUPR]](ptr %s, i64 %[[SIZE]])
; CHECK: [[CONT]]:
; CHECK-NEXT: phi ptr [ %[[P]], %[[FAST]] ], [ %[[Q:.*]], %[[COLD]] ], [ %[[BLOCK]], %[[ALLOCATE]] ], [ %[[COPIED]], %[[COPY]] ]
; CHECK: [[COLD]]:
; CHECK: add i64 %{{.*}}, %[[N]]
; CHECK-NEXT: {{store|asm .*str.*}} i64
; CHECK-NEXT: %[[Q]] = notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}

define ptr @n(ptr %s, i64 %max) {
; CHECK-LABEL: define ptr @n(
; CHECK: %[[LEN:.*]] = call i64 @strnlen(ptr %s, i64 %max)
; CHECK: %[[STRNDUP:.*]] = load ptr, ptr @__mprof_sized_strndup
; CHECK-NEXT: %[[STRNDUPR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[STRNDUP]])
; CHECK-NEXT: call ptr %[[STRNDUPR]](ptr %s, i64 %max, i64 %{{.*}})
; CHECK: notail call ptr @__mprof_strndup(ptr %s, i64 %max)
  %p = call ptr @strndup(ptr %s, i64 %max)
  ret ptr %p
}

; The site always calls the entry where the compiler must not assume what strdup
; does, where size matters more than time, and for wide strings.
define ptr @no_builtin(ptr %s) {
; CHECK-LABEL: define ptr @no_builtin(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s) nobuiltin
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
