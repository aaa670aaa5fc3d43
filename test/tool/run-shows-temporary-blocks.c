// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run --heapx shows which functions allocate temporary blocks,
// and mprof explain has a section on them.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %mprof run --heapx --heap-rate=1 -o out ./app 2>&1 | FileCheck %s
// CHECK: temporary_objects of ./app
// CHECK: 50 {{.*}} make  run-shows-temporary-blocks.c:
// CHECK: mprof top {{.*}}.heapx.pb.gz
// RUN: %mprof explain out | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: ## Temporary blocks
// EXPLAIN: The program allocated 50 temporary blocks: {{.*}} in make
// EXPLAIN: mprof top out/mprof.app.{{[0-9]+}}.heapx.pb.gz

#include <stdlib.h>

__attribute__((noinline)) static void make(void) {
  for (int i = 0; i < 50; i++) {
    char *volatile block = malloc(100);
    block[0] = 1;
    free(block);
  }
}

int main(void) {
  make();
  return 0;
}
