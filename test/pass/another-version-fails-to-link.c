// Intent: if an object and a runtime have different interface versions, linking
// fails with an error that names the version. This also holds with LTO and
// --gc-sections.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -c %S/Inputs/stub_runtime.c -DVERSION=__mprof_abi_v0 -o stub.o
// RUN: not %clang_mprof -O2 -fuse-ld=lld -Wl,--gc-sections %s stub.o -o a 2>&1 | FileCheck %s
// RUN: not %clang_mprof -O0 -Wl,--gc-sections %s stub.o -o a 2>&1 | FileCheck %s
// RUN: not %clang_mprof -O2 -flto=thin -fuse-ld=lld -Wl,--gc-sections %s stub.o -o a 2>&1 | FileCheck %s
// CHECK: undefined {{.*}}__mprof_abi_v{{[1-9]}}
#include <stdlib.h>

int main(void) { return malloc(8) == 0; }
