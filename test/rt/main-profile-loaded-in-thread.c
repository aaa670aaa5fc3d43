// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a thread other than that of main loads an instrumented library,
// and MProf with it, main_profile=1 says that it does nothing. The end of this
// thread is not taken for the end of main.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -shared -fPIC -DLIBRARY %s -o library.so \
// RUN:   -L%rtdir -lmprof_rt -Wl,-rpath,%rtdir
// RUN: %clang -O1 -pthread %s -o app -ldl
// RUN: %run{heap_rate=1:main_profile=1:log_path=x} ./app 2> messages
// RUN: FileCheck %s < messages
// CHECK: main_profile=1 does nothing: a thread other than that of main
// RUN: ls x.*.heap.pb.gz
// RUN: not ls x.*.main.pb.gz

#ifdef LIBRARY

#include <stdlib.h>
void *volatile kept;
void allocate(void) { kept = malloc(1000); }

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *load(void *unused) {
  void *library = dlopen("./library.so", RTLD_NOW);
  if (library == NULL)
    return puts(dlerror()), unused;
  ((void (*)(void))dlsym(library, "allocate"))();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, load, NULL);
  return pthread_join(thread, NULL);
}

#endif
