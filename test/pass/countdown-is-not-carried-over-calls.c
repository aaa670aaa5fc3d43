// Intent: the optimizer must not keep the countdown in a register between two
// calls of a custom allocator. A malloc between them subtracts from the
// countdown, but the optimizer believes that malloc changes no memory of the
// program.
// RUN: %clang_mprof -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <stdlib.h>

__attribute__((mprof_alloc(1))) void *get(size_t);
// CHECK-LABEL: define {{.*}}@f(
// CHECK-COUNT-3: {{load i64, ptr %|asm .*ldr}}{{.*}}!nosanitize
void f(void **out, size_t n) {
  out[0] = get(10);
  out[1] = malloc(n);
  out[2] = get(10);
}
