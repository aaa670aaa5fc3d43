// Intent: allocations of an ignored function are not counted, even if the
// function is inlined into another one. Allocations of another function are
// counted, even if it is inlined into an ignored function.
// RUN: %clang_mprof -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <stdlib.h>
#include <string.h>

__attribute__((mprof_ignore, always_inline)) static inline void *quiet(size_t n) { return malloc(n); }
__attribute__((always_inline)) static inline void *counted(size_t n) { return malloc(n); }

// CHECK-LABEL: define {{.*}}@f(
// CHECK-NOT: __mprof_malloc
// CHECK: load ptr, ptr @__mprof_next_malloc,
// CHECK-NOT: __mprof_malloc
// CHECK: ret
void *f(void) { return quiet(1); }

// CHECK-LABEL: define {{.*}}@g(
// CHECK: call {{.*}}{{__mprof_malloc|@g.cold}}{{.*}}(i64 {{2,|%}}
__attribute__((mprof_ignore)) void *g(void) { return counted(2); }

// The optimizer makes one calloc of malloc and memset. It is ignored like h.
// CHECK-LABEL: define {{.*}}@h(
// CHECK-NEXT: [[CALLOC:%.*]] = load ptr, ptr @__mprof_next_calloc,
// CHECK-NEXT: {{.*}}call {{.*}}ptr [[CALLOC]](
// CHECK-NEXT: ret
__attribute__((mprof_ignore)) void *h(void) {
  void *p = malloc(1000);
  if (p)
    memset(p, 0, 1000);
  return p;
}
