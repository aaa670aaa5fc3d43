// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the large blocks of malloc are found although the program has
// reserved much address space below them.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O0 -g %s -o app
// RUN: %run{memory=1:heap_rate=1:report=0:log_path=app} ./app
// RUN: %mprof memory app.*.memory.pb.gz | FileCheck %s
//
// CHECK: 32.{{.*}} malloc: blocks in use
// CHECK-NEXT: 32.{{.*}} main memory-beside-reserved.c:

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  const size_t bytes = (size_t)32 << 20, reserved = (size_t)64 << 30;
  memset(malloc(bytes), 1, bytes);
  char *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return 1;
  p[reserved / 2] = 1;
  return 0;
}
