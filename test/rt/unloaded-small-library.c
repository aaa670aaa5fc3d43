// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a small library linked by lld, the code is in the same page of the
// file as the ELF header. After such a library is unloaded, the profile still
// has its build id and the names of its functions.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fPIC -shared -fuse-ld=lld -Wl,--build-id=0x0123456789abcdef \
// RUN:   -DPLUGIN %s -o plugin.so
// RUN: llvm-readelf -lW plugin.so | FileCheck %s --check-prefix=SMALL
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:report=0:log_path=p} ./app
// RUN: %mprof_read --symbolize p.*.heap.pb.gz | FileCheck %s
//
// SMALL: LOAD {{ *}}0x000{{[0-9a-f][0-9a-f][0-9a-f] .*}} R E
// CHECK:     mapping: {{.*}}/plugin.so build_id=0123456789abcdef functions
// CHECK:     sample: 3 300 3 300 bytes=100 : leak_in_plugin <- main
// CHECK-NOT: sample:

#include <stdlib.h>

#ifdef PLUGIN
void *volatile sink;
__attribute__((noinline)) void leak_in_plugin(int n) {
  for (int i = 0; i < n; i++)
    sink = malloc(100);
}
#else
#include <dlfcn.h>

int main(void) {
  void *plugin = dlopen("./plugin.so", RTLD_NOW);
  void (*leak)(int) = plugin ? (void (*)(int))dlsym(plugin, "leak_in_plugin")
                             : (void (*)(int))0;
  if (!leak)
    return 1;
  leak(3);
  return dlclose(plugin);
}
#endif
