// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program frees most blocks, runs on with blocks that keep the
// pages resident, and frees those at exit, the memory profile shows the free
// memory between blocks, and not the moment at which all blocks were in use.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run{memory=1:report=0:log_path=app} ./app
// RUN: %mprof memory app.*.memory.pb.gz | FileCheck %s
//
// CHECK: rss of ./app{{.*}}, at the highest resident memory, 20
// CHECK-NEXT: rss
// CHECK-NEXT: {{3[0-9.]+}} MiB {{.*}} malloc: free memory between blocks

#include "Inputs/memory_looks.h"

#include <stdlib.h>
#include <string.h>

enum { N = 100000, BYTES = 400, EACH = 8 };
static char *blocks[N];

int main(void) {
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
  for (int i = 0; i < N; i++)
    if (i % EACH != 0)
      free(blocks[i]);
  wait_for_looks();
  wait_for_looks();
  for (int i = 0; i < N; i += EACH)
    free(blocks[i]);
}
