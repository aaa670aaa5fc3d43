// Intent: if the attribute of an allocator is on its declaration only, calls of
// the allocator are counted. This holds for both spellings of the attribute. A
// later declaration may add the attribute. Clang 16 only takes one spelling.
// RUN: %clang_mprof -std=c2x -O0 -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clang_mprof -std=c2x -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <stddef.h>

#if __clang_major__ > 16
#define FREE [[mprof::free(1)]]
#define REALLOC [[mprof::realloc(1, 2)]]
#else
#define FREE __attribute__((mprof_free(1)))
#define REALLOC __attribute__((mprof_realloc(1, 2)))
#endif

__attribute__((mprof_alloc(2, 1))) void *pool_get(int count, int size);
FREE void pool_put(void *p);
void *pool_resize(void *p, size_t n);
REALLOC void *pool_resize(void *p, size_t n);
__attribute__((mprof_alloc(1))) void *never_called(size_t);

// CHECK-NOT: llvm.global.annotations
// CHECK-LABEL: define {{.*}}@f(
// CHECK: mul
// CHECK: call {{.*}}@pool_get(
// CHECK: {{[@:]}}__mprof_heap_countdown
// CHECK: call void @__mprof_custom_alloc(
void *f(int a, int b) { return pool_get(a, b); }
// CHECK-LABEL: define {{.*}}@g(
// CHECK: call i64 @__mprof_custom_realloc_begin(
// CHECK: call void @__mprof_custom_realloc_end(
void *g(void *p, size_t n) { return pool_resize(p, n); }
// CHECK-LABEL: define {{.*}}@h(
// CHECK: call void @__mprof_custom_free(
// CHECK: call void @pool_put(
void h(void *p) { pool_put(p); }
// CHECK-NOT: @never_called
