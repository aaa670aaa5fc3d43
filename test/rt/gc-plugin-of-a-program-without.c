// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that is not linked with libgc opens a library that is. If
// the program has MProf's runtime, this runtime counts the library's objects.
// Otherwise the runtime that the library is linked with counts them.
//
// REQUIRES: libgc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -fPIC -shared -DPLUGIN -I%src/test/Inputs %s \
// RUN:   -o plugin.so -lgc
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run_quiet{heap_rate=1} ./app
// RUN: %mprof_clang -fmprof -O1 -fPIC -shared -DPLUGIN -I%src/test/Inputs %s \
// RUN:   -o plugin.so -lgc -L%rtdir -lmprof_rt -Wl,-rpath,%rtdir
// RUN: %clang -O1 %s -o app
// RUN: %run_quiet{heap_rate=1} ./app

#ifdef PLUGIN

#include "gc.h"

static void **objects;

int run(void) {
  start();
  objects = GC_MALLOC_UNCOLLECTABLE(32 * sizeof(void *));
  row_size = 80;
  allocate(objects, 10), collect(), READ(10, 0);
  drop(objects, 10), collect(), READ(10, 10);
  return 42;
}

#else

#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "run") : NULL;
  if (!run)
    fprintf(stderr, "%s\n", dlerror());
  return !run || run() != 42;
}

#endif
