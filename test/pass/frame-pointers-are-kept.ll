; Intent: with -mprof-unwind=frames, every function that makes calls keeps a frame pointer. The attribute
; value "all" is not changed to a weaker one, and naked functions are not
; changed. Functions that later passes add have frame pointers, too.
; LLVM 16 does not know "frame-pointer"="reserved".
; UNSUPPORTED: clang-16
; RUN: %opt_mprof -mprof-unwind=frames %s | FileCheck %s
; RUN: sed 's/x86_64-pc-linux-gnu/%arch-pc-linux-musl/' %s | %opt_mprof_as_is - | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK: define void @none() #[[NONLEAF:[0-9]+]]
define void @none() "frame-pointer"="none" {
  ret void
}
; CHECK: define void @unset() #[[NONLEAF]]
define void @unset() {
  ret void
}
; CHECK: define void @reserved() #[[NONLEAF]]
define void @reserved() "frame-pointer"="reserved" {
  ret void
}
; CHECK: define void @all() #[[ALL:[0-9]+]]
define void @all() "frame-pointer"="all" {
  ret void
}
; CHECK: define void @naked() #[[NAKED:[0-9]+]] {
; CHECK-NEXT: call ptr @malloc
define void @naked() naked {
  %p = call ptr @malloc(i64 1)
  unreachable
}
declare ptr @malloc(i64)

; CHECK-DAG: attributes #[[NONLEAF]] = { "frame-pointer"="non-leaf" }
; CHECK-DAG: attributes #[[ALL]] = { "frame-pointer"="all" }
; CHECK-DAG: attributes #[[NAKED]] = { naked }
; CHECK-DAG: !{i32 7, !"frame-pointer", i32 1}
