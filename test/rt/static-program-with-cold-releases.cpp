// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the only call of an operator or lock function is in cold code, where
// the instrumented code calls only the runtime. A static program still contains
// the function itself. This also holds for wcsdup, whose calls are always
// replaced by calls of the runtime.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O2 -static %s -o app
// RUN: %run_quiet ./app | FileCheck %s
// CHECK: ok

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cwchar>

struct alignas(64) Line {
  int x;
};

static const wchar_t *volatile wide = L"wide";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((cold, noinline)) static void drop(Line *p) {
  pthread_mutex_lock(&mutex);
  delete[] p;
  pthread_mutex_unlock(&mutex);
}

int main() {
  drop(new Line[4]);
  wchar_t *copy = wcsdup(wide);
  std::puts(copy && std::wcscmp(copy, wide) == 0 ? "ok" : "no copy");
  std::free(copy);
}
