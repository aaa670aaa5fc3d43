// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that was built without MProf, without frame pointers and
// without debug information has a heap profile. Blocks of all functions of
// malloc's family are counted once, with their whole stacks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -fomit-frame-pointer -fno-builtin %s -o app
// RUN: %run{heap_rate=1:log_path=x:report_top=30} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: Allocated: {{.*}} (19,600 bytes) in 13 blocks
// CHECK: Stacks with the most bytes in use
// CHECK: 8,000 bytes) in 1 block
// CHECK-NEXT: in zeroed
// CHECK-NEXT: in outer
// CHECK-NEXT: in main
//
// A stripped program has the same blocks.
// RUN: %llvm_tools/llvm-strip app -o stripped
// RUN: %run{heap_rate=1:log_path=y} LD_PRELOAD=%preload ./stripped
// RUN: cat y.*.txt | FileCheck --check-prefix=STRIPPED %s
// STRIPPED: Allocated: {{.*}} (19,600 bytes) in 13 blocks
// STRIPPED: 8,000 bytes) in 1 block
// STRIPPED-NEXT: {{/stripped\+0x}}
// STRIPPED-NEXT: {{/stripped\+0x}}
// STRIPPED-NEXT: {{/stripped\+0x}}

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *volatile kept;

__attribute__((noinline)) static void zeroed(int n) {
  kept = calloc(8, n);
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void outer(int n) {
  zeroed(n);
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  outer(1000); // 8,000 bytes
  void *p = malloc(100);
  p = realloc(p, 1000);
  p = reallocarray(p, 10, 200);
  free(p); // 3,100 bytes in 3 blocks
  kept = strdup("123456789");
  kept = strndup("123456789", 4);
  kept = strdup("");
  void *aligned = NULL;
  if (posix_memalign(&aligned, 64, 1484) != 0)
    return 1; // 10 + 5 + 1 + 1,484 = 1,500
  free(aligned);
  free(aligned_alloc(128, 1024));
  free(memalign(32, 976));
  free(valloc(2000));
  free(pvalloc(2000));
  free(NULL);
  free(realloc(NULL, 1000));
  return 0;
}
