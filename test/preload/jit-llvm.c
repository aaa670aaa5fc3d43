// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions that LLVM compiles at run time have their names, and their
// stacks go on to the compiler's caller, although none of them keeps a frame
// pointer. LLVM registers its object files for GDB.
//
// REQUIRES: lli
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fomit-frame-pointer -S -emit-llvm %s -o app.ll
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload lli \
// RUN:   --jit-kind=mcjit app.ll
// RUN: %mprof traces --focus=allocate_here x.*.heap.pb.gz | FileCheck %s
// CHECK: {{^ *}}allocate_here{{$}}
// CHECK-NEXT: {{^ *}}work{{$}}
// CHECK-NEXT: {{^ *}}main{{$}}
// CHECK: llvm::ExecutionEngine::runFunctionAsMain

#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) void allocate_here(void) {
  kept = malloc(1000);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void work(void) {
  allocate_here();
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  work();
  return kept == NULL;
}
