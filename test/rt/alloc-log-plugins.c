// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocation log names the functions of libraries that were loaded
// and unloaded. If two libraries use the same addresses in turn, a frame has
// the name from the library that was loaded when the frame was logged.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for name in one two; do %mprof_clang -fmprof -O1 -g1 -fPIC -shared \
// RUN:   -DPLUGIN=$name %s -o $name.so || exit 1; done
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -g1 %s -o app
// RUN: %run_quiet{heap_rate=1:alloc_log=x.log} ./app > addresses
// RUN: sort -u addresses | wc -l | grep -qx '[1-4]'
// RUN: for i in $(seq 10); do echo one; echo two; done > expected
// RUN: %mprof log --print x.log | sed -n '/, 0x64)$/{n;n;p;}' | diff expected -

#include <stdlib.h>

#ifdef PLUGIN
void *volatile sink;
__attribute__((noinline)) void PLUGIN(void) { sink = malloc(100); }
#else
#include <dlfcn.h>
#include <stdio.h>

static int use(const char *file, const char *name) {
  void *plugin = dlopen(file, RTLD_NOW);
  void (*leak)(void) = plugin ? (void (*)(void))dlsym(plugin, name) : NULL;
  if (!leak)
    return 1;
  printf("%p\n", (void *)leak);
  leak();
  return dlclose(plugin);
}

int main(void) {
  for (int i = 0; i < 10; i++)
    if (use("./one.so", "one") || use("./two.so", "two"))
      return 1;
  return 0;
}
#endif
