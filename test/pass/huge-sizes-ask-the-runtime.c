// Intent: an allocation whose size no allocator can serve calls the runtime.
// This holds for constant sizes and others. Such a size makes the countdown
// grow. Without the call, nothing in the thread would be counted any more.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -c %S/Inputs/stub_runtime.c -o stub.o
// RUN: %clang_mprof -O0 %s stub.o -o plain && %emu ./plain | FileCheck %s
// RUN: %clang_mprof -O2 %s stub.o -o fast && %emu ./fast | FileCheck %s
// RUN: %clang_mprof -O2 -flto -fuse-ld=lld %s stub.o -o full && %emu ./full | FileCheck %s
// CHECK: malloc 18446744073708551616, left 1000100
// CHECK-NEXT: malloc 18446744073708551616, left 1000100
// CHECK-NEXT: malloc 9223372036854775808, left -9223372036854775708
// CHECK-NEXT: done
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void *volatile p = malloc((size_t)-1000000);
  volatile size_t n = (size_t)-1000000;
  p = malloc(n);
  p = malloc((size_t)1 << 63);
  puts("done");
  return p == NULL;
}
