// Intent: with debug information, an ignorelist entry src: with the name of a
// header ignores the functions of the header. This holds in every file that
// includes the header.
// RUN: split-file %s %t
// RUN: %clang_mprof -g1 -O1 -S -emit-llvm -o - %t/a.c -mllvm -mprof-ignorelist=%t/list.txt | FileCheck %s
// CHECK-LABEL: define {{.*}}@quiet(
// CHECK-NOT: __mprof_malloc
// CHECK-LABEL: define {{.*}}@counted(
// CHECK: call {{.*}}__mprof_malloc
//--- list.txt
[mprof]
src:*/a.h
//--- a.h
void *malloc(unsigned long);
__attribute__((noinline)) void *quiet(void) { return malloc(1); }
//--- a.c
#include "a.h"
void *counted(void) { return malloc(2); }
