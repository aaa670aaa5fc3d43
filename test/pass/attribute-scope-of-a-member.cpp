// Intent: in C++, the attributes of MProf can be written with the scope mprof, too.
// Clang 16 takes mprof::alloc for an attribute alloc of its own.
// UNSUPPORTED: clang-16
// RUN: %clangxx_mprof -std=c++20 -O0 -S -emit-llvm -o - %s | FileCheck %s
#include <cstddef>

struct Pool {
  [[mprof::alloc(2)]] void *get(size_t n);
  [[mprof::free(2)]] void put(void *p);
};

// CHECK: call {{.*}}@_ZN4Pool3getEm(
// CHECK: call void @__mprof_custom_alloc(ptr %{{.*}}, i64 10)
// CHECK: call void @__mprof_custom_free(
// CHECK: call {{.*}}@_ZN4Pool3putEPv(
void use(Pool &pool) { pool.put(pool.get(10)); }
