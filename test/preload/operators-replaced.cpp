// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: operators new and delete that the program or one of its libraries has
// replaced serve the same calls as without MProf, and the blocks that they get
// from malloc are counted. The program replaces only two forms, which the C++
// library's other forms call. A library that a C program opens finds its own
// operators.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -O1 -std=c++17 -fno-builtin -DOPERATORS -DUSER %s -o app
// RUN: ./app | FileCheck %s
// RUN: %run{heap_rate=1:log_path=x:report_top=9} LD_PRELOAD=%preload ./app \
// RUN:   | FileCheck %s
// RUN: grep -c ' 116 bytes in 1 block' x.*.txt | grep '^4$'
//
// RUN: %clangxx -O1 -std=c++17 -fno-builtin -fPIC -shared -DOPERATORS %s \
// RUN:   -o libown.so
// RUN: %clangxx -O1 -std=c++17 -fno-builtin -DUSER %s -L. -lown \
// RUN:   -Wl,-rpath,'$ORIGIN' -o linked
// RUN: ./linked | FileCheck %s
// RUN: %run{heap_rate=1:log_path=y} LD_PRELOAD=%preload ./linked | FileCheck %s
//
// RUN: %clangxx -O1 -std=c++17 -fno-builtin -fPIC -shared -DOPERATORS -DUSER \
// RUN:   -Dmain=run %s -o libopened.so
// RUN: %clang -DOPEN -xc %s -o opener
// RUN: ./opener | FileCheck %s
// RUN: %run_quiet LD_PRELOAD=%preload ./opener | FileCheck %s
//
// CHECK: own: 4 new, 4 delete

#ifdef OPEN

#include <dlfcn.h>

int main(void) {
  void *library = dlopen("./libopened.so", RTLD_NOW);
  int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : 0;
  return run ? run() : 1;
}

#else

#include <cstdio>
#include <cstdlib>
#include <new>

extern int news, deletes;

#ifdef OPERATORS
int news, deletes;

void *operator new(size_t size) {
  news++;
  return malloc(size + 16);
}
void operator delete(void *ptr) noexcept {
  deletes += ptr != nullptr;
  free(ptr);
}
#endif

#ifdef USER
extern "C" int main() {
  ::operator delete(::operator new(100));
  ::operator delete(::operator new(100), size_t(100));
  ::operator delete[](::operator new[](100), size_t(100));
  ::operator delete(::operator new(100, std::nothrow), std::nothrow);
  printf("own: %d new, %d delete\n", news, deletes);
  return 0;
}
#endif

#endif
