; Intent: realloc is both an allocation and a free. It calls the runtime if the
; countdown has run out or if the old block may be counted. NULL is never a
; counted block, and realloc(NULL, n) becomes malloc(n), unless the compiler
; must not assume what realloc does, or the module has a malloc of its own.
; RUN: %opt_mprof %s | FileCheck %s
; RUN: sed 's/^declare ptr @malloc.*/define ptr @malloc(i64 %n) { ret ptr null }/' %s \
; RUN:   | %opt_mprof - | FileCheck %s --check-prefix=OWN
target triple = "x86_64-pc-linux-gnu"

define ptr @f(ptr %p, i64 %n) {
; CHECK: %[[D:.*]] = sub i64 %[[OLD:.*]], %n
; CHECK: %[[OUT:.*]] = icmp ule i64 %[[OLD]], %n
; CHECK: br i1 %[[OUT]], label %[[COLD:.*]], label %[[SECOND:.*]], !prof
; CHECK: [[SECOND]]:
; CHECK: load i64, ptr @__mprof_free_mask
; CHECK: %[[NONE:.*]] = icmp eq i64 %{{.*}}, 0
; CHECK: br i1 %[[NONE]], label %[[MASKED:.*]], label %[[FAST:.*]], !prof
; CHECK: [[FAST]]:
; CHECK: %[[F:.*]] = load ptr, ptr @__mprof_next_realloc
; CHECK-NEXT: %[[FR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[F]])
; CHECK-NEXT: call ptr %[[FR]](ptr %p, i64 %n)
; CHECK: [[NULL:mprof.null.*]]: ;
; CHECK-NEXT: %[[G:.*]] = load ptr, ptr @__mprof_next_malloc
; CHECK-NEXT: %[[GR:.*]] = call ptr asm "", "=r,0{{.*}}"(ptr %[[G]])
; CHECK-NEXT: call ptr %[[GR]](i64 %n)
; CHECK: [[MASKED]]:
; CHECK-NEXT: %[[ISNULL:.*]] = icmp eq ptr %p, null
; CHECK-NEXT: br i1 %[[ISNULL]], label %[[NULL]], label %[[COLD]],
; CHECK: [[COLD]]:
; CHECK-NEXT: call ptr @__mprof_realloc(ptr %p, i64 %n)
; OWN-NOT: __mprof_next_malloc
  %q = call ptr @realloc(ptr %p, i64 %n)
  ret ptr %q
}

define ptr @b(ptr %p, i64 %n) {
; CHECK-LABEL: define ptr @b(
; CHECK-NOT: __mprof_next_malloc
; CHECK: br i1 %{{.*}}, label %mprof.masked, label %mprof.fast, !prof
; CHECK-NOT: __mprof_next_malloc
; CHECK: br i1 %{{.*}}, label %mprof.fast, label %mprof.cold,
  %q = call ptr @realloc(ptr %p, i64 %n) nobuiltin
  ret ptr %q
}

declare ptr @realloc(ptr, i64)
declare ptr @malloc(i64)
