// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: allocations and frees of a plugin that is loaded with RTLD_DEEPBIND
// are counted, with and without a rebuild of the program, and whether or not
// the plugin's calls are bound lazily. Waits of the plugin are counted without
// a rebuild.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -g1 -fno-builtin -fPIC -shared -DPLUGIN %s -o now.so \
// RUN:   -Wl,-z,now,-z,relro
// RUN: %clang -O1 -g1 -fno-builtin -fPIC -shared -DPLUGIN %s -o lazy.so \
// RUN:   -Wl,-z,lazy
// RUN: %clang -O1 -g1 -fno-builtin %s -o plain
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-builtin %s -o built
// RUN: for p in now lazy; do \
// RUN:   %run{heap_rate=1:block_rate=1:block_kinds=all:log_path=$p-plain} \
// RUN:     LD_PRELOAD=%preload ./plain ./$p.so && \
// RUN:   %run{heap_rate=1:log_path=$p-built} ./built ./$p.so || exit 1; done
// RUN: for r in now-plain lazy-plain now-built lazy-built; do \
// RUN:   cat $r.*.txt | FileCheck %s || exit 1; done
// RUN: for p in now lazy; do cat $p-plain.*.txt | \
// RUN:   FileCheck %s --check-prefix=WAIT || exit 1; done
//
// CHECK: Stacks with the most bytes in use
// CHECK-NOT: app_alloc
// CHECK: (500,000 bytes) in 100 blocks
// CHECK-NEXT: in plugin_alloc
// CHECK-NOT: app_alloc
// CHECK: Stacks with the most bytes allocated
// CHECK-NOT: Missing from the profiles
// WAIT: Where threads waited
// WAIT: in plugin_wait

#include <stdlib.h>

#ifdef PLUGIN
#include <time.h>

__attribute__((noinline)) void *plugin_alloc(void) {
  void *p = malloc(5000);
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}
// The addresses of heap functions in data of the plugin.
static struct {
  void *(*resize)(void *, size_t);
  void (*release)(void *);
} functions = {realloc, free};
void plugin_free(void *p) {
  __asm__ volatile("" ::"r"(&functions) : "memory");
  functions.release(functions.resize(p, 2000));
}
__attribute__((noinline)) void plugin_wait(void) {
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  __asm__ volatile("" ::: "memory");
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>

enum { COUNT = 100 };
static void *volatile kept[COUNT];

__attribute__((noinline)) static void *app_alloc(void) {
  void *p = malloc(1000);
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}

int main(int argc, char **argv) {
  void *plugin = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND) : NULL;
  if (!plugin || dlerror())
    return 1;
  void *(*get)(void) = (void *(*)(void))dlsym(plugin, "plugin_alloc");
  void (*put)(void *) = (void (*)(void *))dlsym(plugin, "plugin_free");
  void (*wait)(void) = (void (*)(void))dlsym(plugin, "plugin_wait");
  for (int i = 0; i < COUNT; i++)
    put(app_alloc());
  for (int i = 0; i < COUNT; i++)
    kept[i] = get();
  wait();
  return 0;
}
#endif
