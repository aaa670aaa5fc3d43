; Intent: in a module for MemorySanitizer, each call of strdup becomes a call of
; the runtime, also in functions that MemorySanitizer leaves out. An inline test
; would need strlen to get the size, and MemorySanitizer's strlen reports strings
; with uninitialized bytes.
; RUN: %opt_mprof %s | FileCheck %s --implicit-check-not=strlen
target triple = "x86_64-pc-linux-gnu"

define ptr @sanitized(ptr %s) sanitize_memory {
; CHECK-LABEL: define ptr @sanitized(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}
define ptr @left_out(ptr %s) disable_sanitizer_instrumentation {
; CHECK-LABEL: define ptr @left_out(
; CHECK-NEXT: notail call ptr @__mprof_strdup(ptr %s)
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}

declare ptr @strdup(ptr)
