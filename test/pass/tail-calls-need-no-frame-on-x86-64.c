// Intent: a function that only allocates in tail position needs no frame on the
// stack, because the call of the runtime is an asm that needs none. The asm must
// stay before a return, so the function is not inlined any more. Two calls of the
// runtime are not merged, because profiles show their lines. Code that needs a
// frame for the stack's unwinding, or that may still be inlined, has a normal
// call.
// LLVM 16 aligns the stack before the branch to the cold part: two instructions more.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -g -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -S -emit-llvm -o - %s | FileCheck %s --check-prefix=IR
// RUN: for flags in -fno-omit-frame-pointer '-mllvm -mprof-unwind=frames' -flto \
// RUN:     -flto=thin -fPIC -mcmodel=large -fno-optimize-sibling-calls -O0; do \
// RUN:   %clang_mprof --target=x86_64-linux-gnu -O2 $flags -S -emit-llvm -o - %s \
// RUN:     | FileCheck %s --check-prefix=FRAME || exit 1; done
#include <stdlib.h>

// FRAME-NOT: asm {{.*}}__mprof
// FRAME: notail call {{.*}}(
// FRAME-NOT: asm {{.*}}__mprof

// IR: define {{.*}}@resize({{.*}} #[[A:[0-9]+]]
// IR: attributes #[[A]] = {{.*}}noinline
// CHECK-LABEL: resize:
// CHECK-NOT: push
// CHECK-NOT: , %rsp
// CHECK: jmpq *%rax
// CHECK: call{{q?}} __mprof_realloc@PLT
// CHECK: retq
// CHECK: cfi_endproc
void *resize(void *ud, void *p, size_t was, size_t size) {
  if (size == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, size);
}

// CHECK-LABEL: two:
// CHECK: call{{q?}} __mprof_malloc@PLT
// CHECK: call{{q?}} __mprof_malloc@PLT
// CHECK: cfi_endproc
void *two(size_t n) {
  if (n > 100)
    __attribute__((nomerge)) return malloc(n);
  __attribute__((nomerge)) return malloc(2 * n);
}
