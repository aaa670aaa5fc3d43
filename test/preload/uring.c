// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: waits in liburing, which makes its system calls without libc, are
// recorded in a program that was built without MProf. In a program without
// liburing, and for libraries that it opens, there are no functions of liburing
// but their own.
//
// The test's liburing.so.2 has one function of the real library, which returns
// at once: each call of it counts as a wait.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fPIC -shared -DLIBURING -Wl,-soname,liburing.so.2 %s \
// RUN:   -o liburing.so.2
// RUN: %clang -O1 -g1 -DLINKED %s -o linked ./liburing.so.2 -Wl,-rpath,%t.dir
// RUN: %run{heap=0:block_rate=1:block_kinds=all:log_path=x} LD_PRELOAD=%preload ./linked
// RUN: %go tool pprof -sample_index=contentions -traces x.*.block.pb.gz | FileCheck %s
// CHECK: kind: uring
// CHECK-NEXT: 3 {{ *}}io_uring_submit_and_wait
// CHECK-NEXT: main
//
// RUN: %clang -O1 %s -o opens
// RUN: %run_quiet{heap_rate=1} LD_PRELOAD=%preload ./opens

#ifdef LIBURING
int io_uring_submit_and_wait(void *ring, unsigned n) {
  (void)ring;
  return (int)n + 1;
}
#elif defined(LINKED)
int io_uring_submit_and_wait(void *ring, unsigned n);
int main(void) {
  for (unsigned i = 0; i < 3; i++)
    if (io_uring_submit_and_wait(&i, i) != (int)i + 1)
      return 1;
  return 0;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>

int main(void) {
  if (dlsym(RTLD_DEFAULT, "io_uring_submit_and_wait") ||
      dlsym(RTLD_DEFAULT, "io_uring_enter"))
    return 1;
  void *handle = dlopen("./liburing.so.2", RTLD_NOW);
  int (*f)(void *, unsigned) =
      handle
          ? (int (*)(void *, unsigned))dlsym(handle, "io_uring_submit_and_wait")
          : 0;
  return f && f(0, 4) == 5 ? 0 : 1;
}
#endif
