// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks that a library's constructor allocates are counted, although
// the constructor runs before that of the preloaded library.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %clang -O1 -fno-builtin %s ./library.so -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: Allocated: {{.*}} (1,500 bytes) in 2 blocks
// CHECK: 1,000 bytes in 1 block
// CHECK-NEXT: in at_load {{.*}}early-constructor.c:[[#]]

#include <stdlib.h>

void *volatile kept;
#ifdef LIBRARY
__attribute__((constructor)) static void at_load(void) { kept = malloc(1000); }
void work(void) { kept = malloc(500); }
#else
void work(void);
int main(void) {
  work();
  return 0;
}
#endif
