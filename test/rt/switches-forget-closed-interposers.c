// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library that is opened with RTLD_DEEPBIND may bind to another
// library's function with the name of one of libc's. After both libraries are
// closed, the waits of a library that calls libc's function are recorded, and
// nothing calls the closed library.
//
// RUN: %clang -O2 -shared -fPIC -DINTERPOSER %s -o %t.own.so
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.deep.so %t.own.so
// RUN: %mprof_clang -fmprof -O2 -shared -fPIC -DLIBRARY %s -o %t.plain.so
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:block_kinds=sleep} %t %t.deep.so %t.plain.so

#if defined(INTERPOSER)
int usleep(unsigned us) { return (int)us; }
#elif defined(LIBRARY)
#include <unistd.h>

__attribute__((noinline)) int use(void) {
  const int result = usleep(1000);
  __asm__ volatile("");
  return result;
}
#else
#include "check.h"
#include "mprof/mprof.h"

#include <dlfcn.h>

static long sleeps(void) {
  size_t n = 0;
  mprof_block_profile(NULL, 0, &n);
  return (long)n;
}

static void use(const char *path, int result) {
  void *library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  CHECK(library);
  CHECK_EQ(((int (*)(void))dlsym(library, "use"))(), result);
  CHECK_EQ(dlclose(library), 0);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  use(argv[1], 1000);
  const long before = sleeps();
  use(argv[2], 0);
  CHECK_EQ(sleeps(), before + 1);
  return 0;
}
#endif
