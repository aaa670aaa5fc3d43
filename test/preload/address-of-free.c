// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that is not position-independent uses the addresses of
// malloc and free. The linker then makes the addresses of the program's stubs
// those of the functions for all modules. The library still finds libc's
// functions, and counts the blocks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-pie -no-pie -fno-builtin %s -o app
// RUN: timeout 600 %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: In use: {{ *}}1,000 bytes in 1 block
// CHECK: Allocated: {{.*}} (3,000 bytes) in 2 blocks

#include <stdlib.h>

void *volatile kept;

int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void *) = free;
  kept = allocate(1000);
  release(malloc(2000));
  return 0;
}
