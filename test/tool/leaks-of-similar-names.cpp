// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof leaks reports the leaks of functions of the program whose names
// are similar to those of libc, also if they are inlined or have no debug
// information, and whose source files are in a folder named like the loader.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/ld-linux-demo/libgcc_s.so && cd %t.dir
// RUN: cp %s ld-linux-demo/libgcc_s.so/a.cpp
// RUN: for flags in '-O0 -g' '-O2 -g' '-O0'; do \
// RUN:   %mprof_clangxx -fmprof $flags ld-linux-demo/libgcc_s.so/a.cpp -o ld-linux-demo/app \
// RUN:     && rm -f x.* || exit 1; \
// RUN:   env MPROF_OPTIONS=heap_rate=1:log_path=x ld-linux-demo/app || exit 1; \
// RUN:   not %build/bin/mprof leaks -n 0 x.*.heap.pb.gz > out || exit 1; \
// RUN:   FileCheck %s < out || exit 1; done
// CHECK: leaks: {{.*}} at 17 stacks
// CHECK-NOT: by design

#include <cstdlib>

void *kept[32];
static int count;
#define LEAK(Name)                                                             \
  static void Name() { kept[count++] = malloc(100); }
LEAK(getgrid)
LEAK(getgraph)
LEAK(getspan)
LEAK(getnetwork)
LEAK(getprotocol)
LEAK(getservice)
LEAK(getpwd)
LEAK(getgroupname)
LEAK(mktimer)
LEAK(tzsetup)
LEAK(format_gmtime_string)
LEAK(my_localtime)
LEAK(strerror_text)
LEAK(dlopen_all)
LEAK(pthread_create_all)
struct gethostcache {
  gethostcache() { kept[count++] = malloc(100); }
};
namespace {
struct pool {
  pool() { kept[count++] = malloc(100); }
};
} // namespace

int main() {
  getgrid();
  getgraph();
  getspan();
  getnetwork();
  getprotocol();
  getservice();
  getpwd();
  getgroupname();
  mktimer();
  tzsetup();
  format_gmtime_string();
  my_localtime();
  strerror_text();
  dlopen_all();
  pthread_create_all();
  gethostcache hosts;
  pool blocks;
}
