// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime looks up the allocator that an instrumented plugin calls.
// After the program has unloaded the plugin and the allocator, and loaded them
// at another address, the runtime looks the allocator up again.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fPIC -shared -DALLOCATOR %s -o liballocator.so
// RUN: %mprof_clang -fmprof -O1 -fPIC -shared -DPLUGIN %s -L. -lallocator \
// RUN:   -Wl,-rpath,%t.dir -o plugin.so
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o host
// RUN: %run_quiet{heap_rate=1} ./host
//
// The same test, with the plugin unloaded by code without MProf.
// RUN: %clang -O1 -D_GNU_SOURCE -DBY_OTHERS -c -I%src/test/Inputs \
// RUN:   -I%src/include %s -o host.o
// RUN: %mprof_clang -fmprof host.o -o host
// RUN: %run_quiet{heap_rate=1} ./host

#include <stddef.h>

void *mallocx(size_t size, int flags);
void dallocx(void *ptr, int flags);

#ifdef ALLOCATOR
static char block[8000];
void *mallocx(size_t size, int flags) {
  return flags == 0 && size <= sizeof(block) ? block : NULL;
}
void dallocx(void *ptr, int flags) {
  if (flags == 0)
    *(char *)ptr = 0;
}
void *address(void) { return (void *)mallocx; }

#elif defined PLUGIN
void *address(void);
void *work(void) {
  for (int i = 0; i < 10; i++)
    dallocx(mallocx(7001, 0), 0);
  return address();
}

#else
#include "records.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>

int main(void) {
  for (int i = 1; i <= 5; i++) {
    void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin);
    void *at = ((void *(*)(void))dlsym(plugin, "work"))();
    CHECK(at);
    CHECK(dlclose(plugin) == 0);
    // A call of the old address must not find the same function by chance.
    void *page = (void *)((uintptr_t)at & ~(uintptr_t)4095);
    CHECK(mmap(page, 4096, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
               0) == page);
  }
#ifndef BY_OTHERS // at a different stack each time
  EXPECT(7001, 5, 50, 50);
#endif
  return 0;
}
#endif
