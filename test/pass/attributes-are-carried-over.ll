; Intent: when the pass replaces a call by a call of the runtime, it keeps the
; attributes of the result. It drops attributes that are wrong for the runtime's
; function, for example about memory effects, because this function has state of
; its own. The new call may throw if the original call may.
; RUN: %opt_mprof %s | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK: call noalias noundef nonnull align 16 dereferenceable(8) ptr %{{.*}}(i64 noundef {{8|%.*}}) #[[ORIG:[0-9]+]]
; CHECK: call noalias noundef nonnull align 16 dereferenceable(8) ptr @__mprof__Znwm(i64 noundef {{8|%.*}}) #[[SITE:[0-9]+]]
define ptr @f() {
  %p = call noalias noundef nonnull align 16 dereferenceable(8) ptr @_Znwm(i64 noundef 8) #1
  ret ptr %p
}

; CHECK: call void @__mprof_free(ptr noundef %p) #[[FREESITE:[0-9]+]]
; CHECK-DAG: declare noalias nonnull ptr @__mprof__Znwm(i64 noundef) #[[DECL:[0-9]+]]
; CHECK-DAG: declare void @__mprof_free(ptr noundef) #[[FREESITE]]
declare noalias nonnull ptr @_Znwm(i64 noundef) #0

define void @g(ptr %p) {
  call void @free(ptr nocapture noundef %p) #2
  ret void
}
declare void @free(ptr allocptr nocapture noundef) #3

; CHECK-DAG: attributes #[[ORIG]] = { builtin allocsize(0) }
; CHECK-DAG: attributes #[[SITE]] = { cold nomerge allocsize(0) }
; CHECK-DAG: attributes #[[DECL]] = { cold allocsize(0) }
; CHECK-DAG: attributes #[[FREESITE]] = { cold nounwind }
attributes #0 = { nobuiltin nofree willreturn allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite) "alloc-family"="_Znwm" }
attributes #1 = { builtin allocsize(0) }
attributes #2 = { nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) }
attributes #3 = { nounwind willreturn allockind("free") memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc" }
