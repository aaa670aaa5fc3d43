// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a C program that intercepts malloc opens a C++ library later. Each
// block of the library's operator new is counted once, although operator new
// calls malloc.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -fPIC -shared %s -o plugin.so
// RUN: %mprof_clang -fmprof -fmprof-intercept -O1 -I%src/test/Inputs -x c \
// RUN:   -DHOST %s -o host
// RUN: %run_quiet{heap_rate=1} ./host

#ifdef HOST
#include "records.h"

#include <dlfcn.h>

int main(void) {
  void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  CHECK(plugin);
  ((void (*)(void))dlsym(plugin, "work"))();
  EXPECT(7001, 1, 10, 10);
  EXPECT(7002, 1, 10, 10);
  EXPECT(7040, 1, 10, 10);
  return 0;
}
#else
#include <new>

struct alignas(64) Line {
  char bytes[64];
};
static void *volatile sink;

extern "C" void work() {
  for (int i = 0; i < 10; i++) {
    sink = new char[7001];
    delete[] static_cast<char *>(sink);
    sink = operator new(7002, std::nothrow);
    operator delete(sink, 7002);
    sink = new Line[110];
    delete[] static_cast<Line *>(sink);
  }
}
#endif
