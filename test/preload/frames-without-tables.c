// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a stack goes through a library that has frame pointers, but no unwind
// tables, and goes on in a program that has tables, but no frame pointers.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fno-builtin -fno-omit-frame-pointer -DLIBRARY \
// RUN:   -fno-asynchronous-unwind-tables -fno-unwind-tables -shared -fPIC \
// RUN:   -Wl,--no-eh-frame-hdr %s -o library.so
// RUN: %clang -O2 -g1 -fno-builtin -fomit-frame-pointer %s ./library.so -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: in allocate
// CHECK-NEXT: in inner
// CHECK-NEXT: in middle
// CHECK-NEXT: in outer
// CHECK-NEXT: in caller
// CHECK-NEXT: in main

#include <stdlib.h>

typedef void callback(void);
void outer(callback *f);

#define DONE __asm__ volatile("" ::: "memory") // no call is a jump

#ifdef LIBRARY
__attribute__((noinline)) static void inner(callback *f) {
  f();
  DONE;
}
__attribute__((noinline)) static void middle(callback *f) {
  inner(f);
  DONE;
}
void outer(callback *f) {
  middle(f);
  DONE;
}
#else
void *volatile kept;

__attribute__((noinline)) static void allocate(void) {
  kept = malloc(1000);
  DONE;
}
__attribute__((noinline)) static void caller(void) {
  outer(allocate);
  DONE;
}

int main(void) {
  caller();
  return 0;
}
#endif
