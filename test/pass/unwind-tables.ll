; Intent: by default and with -mprof-unwind=tables, every function has an unwind table and no
; function is made to keep a frame pointer. A function that was compiled with
; frame pointers keeps them. Naked functions are not changed.
; RUN: %opt_mprof %s | FileCheck %s
; RUN: %opt_mprof -mprof-unwind=tables %s | FileCheck %s
; RUN: %opt_mprof -mprof-unwind=tables %s | %opt_mprof -mprof-unwind=tables - | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK: define void @none() #[[NONE:[0-9]+]]
define void @none() "frame-pointer"="none" {
  ret void
}
; CHECK: define void @unset() #[[UNSET:[0-9]+]]
define void @unset() {
  ret void
}
; CHECK: define void @sync() #[[UNSET]]
define void @sync() uwtable(sync) {
  ret void
}
; CHECK: define void @all() #[[ALL:[0-9]+]]
define void @all() "frame-pointer"="all" {
  ret void
}
; CHECK: define void @naked() #[[NAKED:[0-9]+]] {
define void @naked() naked {
  unreachable
}

; CHECK-DAG: attributes #[[NONE]] = { uwtable "frame-pointer"="none" }
; CHECK-DAG: attributes #[[UNSET]] = { uwtable }
; CHECK-DAG: attributes #[[ALL]] = { uwtable "frame-pointer"="all" }
; CHECK-DAG: attributes #[[NAKED]] = { naked }
; CHECK-DAG: !{i32 7, !"uwtable", i32 2}
; CHECK-NOT: !"frame-pointer", i32
