// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf does not make a C program load libgcc_s. Nevertheless an
// exception of a C++ library that the program opens passes through
// mprof_labels_with, and the previous labels are restored.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O2 -fPIC -shared %s -o plugin.so
// RUN: %mprof_clang -fmprof -O2 -x c -DHOST -I%src/test/Inputs %s -o host
// RUN: %llvm_tools/llvm-readelf -d host | not grep libgcc_s
// RUN: %run_quiet ./host | FileCheck %s
// CHECK: during 1, after 1

#ifdef HOST
#include "plugin_host.h"

int main(void) { ((void (*)(void))plugin_work())(); }
#else
#include "mprof/mprof.h"

#include <cstdio>

static const mprof_labels *during;

extern "C" void work() {
  const char *const pairs[] = {"key", "value", nullptr};
  const mprof_labels *before = mprof_labels_get();
  try {
    mprof_labels_with(
        pairs,
        [](void *) {
          during = mprof_labels_get();
          throw 1;
        },
        nullptr);
  } catch (int) {
    std::printf("during %d, after %d\n", during != before,
                mprof_labels_get() == before);
  }
}
#endif
