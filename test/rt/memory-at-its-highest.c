// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile at exit shows the moment at which the resident
// memory was highest, with the stacks of the blocks that were in use then. So
// does the one that is written when a signal ends the process.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=app} ./app
// RUN: %mprof memory app.*.memory.pb.gz | FileCheck %s
// RUN: not --crash %run{heap_rate=1:memory=1:dump_on_signal=terminate:report=0:log_path=b} \
// RUN:   ./app signal
// RUN: %mprof memory b.*.memory.pb.gz | FileCheck %s
//
// CHECK: rss of ./app{{.*}}, at the highest resident memory, 20
// CHECK: 19.{{.*}} malloc: blocks in use
// CHECK-NEXT: 19.{{.*}} burst memory-at-its-highest.c:

#include "Inputs/memory_looks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = 20000 };
static char *blocks[N];

__attribute__((noinline)) static void burst(void) {
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
}

int main(int argc, char **argv) {
  (void)argv;
  burst();
  wait_for_looks();
  for (int i = 0; i < N; i++)
    free(blocks[i]);
  return argc > 1 ? raise(SIGTERM) : 0;
}
