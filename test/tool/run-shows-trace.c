// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the profiles of a program are empty, mprof run --trace shows the
// longest waits of the trace instead of an empty table. Standard output is the
// program's.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %mprof run --trace --heap-rate=0 ./app > out 2> err && test ! -s out
// RUN: FileCheck %s --implicit-check-not=inuse_space < err
// CHECK: .trace: {{[0-9]+}} thread
// CHECK: The longest waits
// CHECK: mprof trace top {{.*}}.trace

#include <unistd.h>

int main(void) {
  usleep(1000);
  return 0;
}
