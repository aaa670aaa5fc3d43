// Intent: a block of a custom allocator is counted exactly once, whether the
// allocator is inlined or not. A malloc inside the allocator is not counted,
// not even by the interceptors. A free inside the allocator is rewritten,
// because the block may come from another allocator.
// RUN: %clang_mprof -O0 -S -emit-llvm -o - %s | FileCheck %s --implicit-check-not=__mprof_malloc
// RUN: %clang_mprof -O2 -S -emit-llvm -o - %s | FileCheck %s --check-prefixes=CHECK,INLINED --implicit-check-not=__mprof_malloc
#include <stdlib.h>

__attribute__((mprof_alloc(2))) static inline void *xmalloc(int unused, size_t n) {
  void *p = malloc(n + 16);
  if (!p)
    abort();
  return p;
}
__attribute__((mprof_free(1))) static inline void xfree(void *p) { free(p); }

// CHECK-LABEL: define {{.*}}@f(
// INLINED: [[BENEATH:%.*]] = load ptr, ptr @__mprof_next_malloc,
// INLINED-NEXT: [[BENEATHR:%.*]] = call ptr asm "", "=r,0{{.*}}"(ptr [[BENEATH]])
// INLINED: call {{.*}}ptr [[BENEATHR]](
// CHECK: call void @__mprof_custom_alloc(ptr {{.*}}, i64 %
// CHECK: call void @__mprof_custom_free(
// CHECK: call void @__mprof_free(
void use(void *);
void f(size_t n) {
  void *p = xmalloc(0, n);
  use(p);
  xfree(p);
}
