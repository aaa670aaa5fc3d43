// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block in use that has the size of malloc's cache of a thread, and
// whose bytes could be numbers and addresses of freed blocks, does not make
// other blocks count as freed ones.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=out} ./app
// RUN: %mprof memory -n 0 out.*.memory.pb.gz > out.txt && FileCheck %s < out.txt
// RUN: not grep -E 'MiB .* kept for reuse' out.txt
// CHECK: 10.{{[01]}} MiB {{.*}} malloc: blocks in use

#include <stdlib.h>
#include <string.h>

enum { N = 16132, SIZE = 640 }; // 10 MiB
static void *blocks[N];

int main(void) {
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(SIZE), ' ', SIZE);
  return 0;
}
