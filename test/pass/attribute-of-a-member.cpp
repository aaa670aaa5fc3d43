// Intent: in calls of members, static members and templates, the pass finds the
// arguments that the attribute names. This holds if a hidden argument holds the
// address of the result. It also holds if the function is only declared.
// RUN: %clangxx_mprof -O0 -fno-discard-value-names -S -emit-llvm -o - %s | FileCheck %s
#include <cstddef>

struct Big { int words[10]; };
struct Pool {
  __attribute__((mprof_alloc(2))) void *get(size_t n);
  __attribute__((mprof_alloc(1))) static void *make(size_t n);
  template <class T> __attribute__((mprof_alloc(2, 3))) T *array(size_t n, size_t size);
  __attribute__((mprof_free(2))) Big put(void *p);
  __attribute__((mprof_realloc(1, 2))) void *grow(size_t n);
};

// CHECK-LABEL: define {{.*}}@_Z1fR4Pool(
void f(Pool &pool) {
  // CHECK: call {{.*}}@_ZN4Pool3getEm(ptr {{.*}}, i64 noundef 11)
  // CHECK: call i64 asm "", "=r,0"(i64 11)
  // CHECK: call void @__mprof_custom_alloc(ptr %{{.*}}, i64 11)
  void *p = pool.get(11);
  // CHECK: call {{.*}}@_ZN4Pool4makeEm(i64 noundef 12)
  // CHECK: call i64 asm "", "=r,0"(i64 12)
  Pool::make(12);
  // CHECK: call {{.*}}@_ZN4Pool5arrayIsEEPT_mm(
  // CHECK: call i64 asm "", "=r,0"(i64 12)
  pool.array<short>(3, 4);
  // CHECK: %[[P:.*]] = load ptr, ptr %p,
  // CHECK: call void @__mprof_custom_free(ptr %[[P]])
  // CHECK: call void @_ZN4Pool3putEPv(ptr {{.*}}sret(%struct.Big){{.*}}, ptr {{.*}}, ptr noundef %[[P]])
  pool.put(p);
  // CHECK: %[[THIS:.*]] = load ptr, ptr %pool.addr
  // CHECK: call i64 asm "", "=r,0"(i64 15)
  // CHECK: call i64 @__mprof_custom_realloc_begin(ptr %[[THIS]])
  // CHECK: call void @__mprof_custom_realloc_end(i64 %{{.*}}, ptr %[[THIS]], ptr %{{.*}}, i64 15, i64 %{{.*}})
  pool.grow(15);
}
