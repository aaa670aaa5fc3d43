// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report names the library of a frame whose line is known. This
// holds for libraries that are opened later or have been unloaded, and for
// inlined functions. Frames of the program itself have no library name.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for name in linked opened gone; do \
// RUN:   %mprof_clang -fmprof -O1 -g1 -fPIC -shared -DNAME=$name %s \
// RUN:     -o lib$name.so -Wl,--build-id || exit 1; done
// RUN: %mprof_clang -fmprof -O1 -g1 %s ./liblinked.so -o app
// RUN: %run{heap_rate=1:log_path=x} ./app
// RUN: FileCheck %s < x.*.txt
// CHECK: Stacks with the most bytes in use
// CHECK: #0 0x{{[0-9a-f]+}} in allocate {{.*}}report-names-libraries.c:[[#]] (liblinked.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in linked {{.*}}report-names-libraries.c:[[#]] (liblinked.so){{$}}
// CHECK-NEXT: #2 0x{{[0-9a-f]+}} in main {{.*}}report-names-libraries.c:[[#]]{{$}}
// CHECK: #0 {{.*}} (libopened.so){{$}}
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} in opened {{.*}}report-names-libraries.c:[[#]] (libopened.so){{$}}
// CHECK-NEXT: #2 {{.*}} in call {{.*}}report-names-libraries.c:[[#]]{{$}}
// CHECK: #1 0x{{[0-9a-f]+}} in gone {{.*}}report-names-libraries.c:[[#]] (libgone.so){{$}}
// CHECK-NEXT: #2 {{.*}} in call {{.*}}report-names-libraries.c:[[#]]{{$}}

#include <dlfcn.h>
#include <stdlib.h>

#ifdef NAME

static inline __attribute__((always_inline)) void *allocate(size_t size) {
  return malloc(size);
}

void *NAME(size_t size) { return allocate(size); }

#else

void *linked(size_t size);

static void *volatile sink;

static void *call(const char *library, const char *name, size_t size) {
  void *handle = dlopen(library, RTLD_NOW);
  void *(*f)(size_t) = handle ? (void *(*)(size_t))dlsym(handle, name) : NULL;
  if (!f)
    abort();
  sink = f(size);
  return handle;
}

int main(void) {
  sink = linked(500000);
  call("./libopened.so", "opened", 400000);
  return dlclose(call("./libgone.so", "gone", 300000));
}

#endif
