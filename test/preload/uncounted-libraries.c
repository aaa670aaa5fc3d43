// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the line at exit and the report say that a library is not counted:
// one that was loaded with RTLD_DEEPBIND by code without MProf, and one that
// was loaded by dlmopen.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DPLUGIN %s -o plugin.so
// RUN: %clang -O1 -fPIC -shared -DOPENER %s -o libopener.so
// RUN: %clang -O1 -fno-builtin %s -o plain -L. -lopener -Wl,-rpath,%t.dir
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o built -L. -lopener \
// RUN:   -Wl,-rpath,%t.dir
// RUN: %run{heap_rate=1:log_path=deep} ./built deep 2>&1 | FileCheck %s \
// RUN:   --check-prefix=DEEP
// RUN: cat deep.*.txt | FileCheck %s --check-prefix=REPORT
// RUN: %run{heap_rate=1:log_path=space} ./built space 2>&1 | FileCheck %s \
// RUN:   --check-prefix=SPACE
// RUN: %run{heap_rate=1:log_path=plain} LD_PRELOAD=%preload ./plain space \
// RUN:   2>&1 | FileCheck %s --check-prefix=SPACE
//
// DEEP: incomplete: libraries_uncounted 1
// REPORT: Missing from the profiles
// REPORT-NEXT: 1 library whose allocations and frees are not counted
// SPACE: incomplete: namespaces 1

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#if defined(PLUGIN)
void *volatile kept;
void work(void) { kept = malloc(5000); }
#elif defined(OPENER)
void *open_deep(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  __asm__ volatile("" ::: "memory");
  return handle;
}
#else
void *open_deep(const char *path);
void *volatile mine;

int main(int argc, char **argv) {
  void *h;
  mine = malloc(100);
  if (argc > 1 && strcmp(argv[1], "space") == 0)
    h = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);
  else
    h = open_deep("./plugin.so");
  void (*work)(void) = h ? (void (*)(void))dlsym(h, "work") : NULL;
  if (!work)
    return 1;
  work();
  return 0;
}
#endif
