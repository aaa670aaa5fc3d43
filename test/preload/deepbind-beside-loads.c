// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: two threads load and unload libraries with RTLD_DEEPBIND at the same
// time, with and without a rebuild of the program, and the program does not
// crash. One library has many references, whose relocation takes long.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DSMALL %s -o small.so
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DLARGE %s -o large.so \
// RUN:   -Wl,-z,now,-z,relro
// RUN: %clang -O1 -fno-builtin %s -o plain -rdynamic -lpthread
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o built -rdynamic -lpthread
// RUN: %run_quiet{heap_rate=1} LD_PRELOAD=%preload ./plain
// RUN: %run_quiet{heap_rate=1} ./built

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// F applied to 512 names.
#define TWO(F, n) F(n##0) F(n##1)
#define EIGHT(F, n) TWO(F, n##0) TWO(F, n##1) TWO(F, n##2) TWO(F, n##3)
#define BLOCK(F, n)                                                            \
  EIGHT(F, n##0)                                                               \
  EIGHT(F, n##1)                                                               \
  EIGHT(F, n##2)                                                               \
  EIGHT(F, n##3) EIGHT(F, n##4) EIGHT(F, n##5) EIGHT(F, n##6) EIGHT(F, n##7)
#define ALL(F)                                                                 \
  BLOCK(F, 0)                                                                  \
  BLOCK(F, 1)                                                                  \
  BLOCK(F, 2) BLOCK(F, 3) BLOCK(F, 4) BLOCK(F, 5) BLOCK(F, 6) BLOCK(F, 7)

#if defined(SMALL)
void *allocate(void) { return malloc(1); }
#elif defined(LARGE)
#define DECLARE(n) void function_of_the_program_##n(void);
ALL(DECLARE)
#define ADDRESS(n) function_of_the_program_##n,
void *(*const allocate)(size_t) = malloc;
void (*const functions[])(void) = {ALL(ADDRESS)};
void *(*const allocate_last)(size_t) = malloc;
#else
#define DEFINE(n)                                                              \
  void function_of_the_program_##n(void);                                      \
  void function_of_the_program_##n(void) {}
ALL(DEFINE)

enum { LOADS = 150 };

static void *load(void *file) {
  for (int i = 0; i < LOADS; i++) {
    void *library = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
    if (!library || dlclose(library) != 0)
      return file;
  }
  return NULL;
}

int main(void) {
  static char small[] = "./small.so", large[] = "./large.so";
  pthread_t other;
  void *failed = NULL;
  if (pthread_create(&other, NULL, load, large) != 0)
    return 1;
  void *const first_failed = load(small);
  return pthread_join(other, &failed) != 0 || failed || first_failed;
}
#endif
