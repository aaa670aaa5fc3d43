// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report names the functions of a library that a program without
// MProf has unloaded.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %clang -O1 -fno-builtin %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: 1,000 bytes in 1 block
// CHECK-NEXT: in in_library {{.*}}unloaded-library.c:[[#]] (library.so)

#include <dlfcn.h>
#include <stdlib.h>

#ifdef LIBRARY
void *in_library(void) {
  void *p = malloc(1000);
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}
#else
void *volatile kept;

int main(void) {
  void *library = dlopen("./library.so", RTLD_NOW);
  if (!library)
    return 1;
  void *(*f)(void) = (void *(*)(void))dlsym(library, "in_library");
  kept = f();
  return dlclose(library);
}
#endif
