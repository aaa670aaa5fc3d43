; Intent: a hooked function that is called in the fast path needs no PLT stub; one
; that the module defines, or that the linker finds locally, stays as it is.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"
define ptr @f() {
  %p = call ptr @malloc(i64 1)
  %q = call ptr @calloc(i64 1, i64 1)
  call void @free(ptr %q)
  ret ptr %p
}
; CHECK: declare ptr @malloc(i64) #[[EARLY:[0-9]+]]
; CHECK: declare dso_local ptr @calloc(i64, i64){{$}}
declare ptr @malloc(i64)
declare dso_local ptr @calloc(i64, i64)
; CHECK: define void @free(ptr %p) #[[OWN:[0-9]+]]
define void @free(ptr %p) {
  ret void
}
; CHECK: attributes #[[EARLY]] = { nonlazybind }
