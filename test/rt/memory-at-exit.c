// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile at exit shows the exit if blocks in use keep most
// of the memory resident that was in use when it was highest, because this is
// why the resident memory is larger than the heap. Freed blocks that malloc
// keeps in its caches count alike.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: for bytes in 200 100; do \
// RUN:   %run{memory=1:report=0:log_path=$bytes} ./app $bytes && \
// RUN:   %mprof memory $bytes.*.memory.pb.gz > $bytes.txt || exit 1; done
// RUN: FileCheck %s < 200.txt && FileCheck %s --check-prefix=CACHED < 100.txt
// CHECK: rss of ./app 200, at exit, 20
// CHECK: {{[89][0-9]}} % {{.*}} malloc: free memory between blocks
// CACHED: rss of ./app 100, at exit, 20
// CACHED: {{[89][0-9]}} % {{.*}} malloc: freed blocks, kept for reuse

#include "Inputs/memory_looks.h"

#include <stdlib.h>
#include <string.h>

enum { TOTAL = 40 << 20, SMALLEST = 100, APART = 3000 };
static char *blocks[TOTAL / SMALLEST];

int main(int argc, char **argv) {
  const size_t bytes = (size_t)atoi(argv[argc - 1]), count = TOTAL / bytes;
  for (size_t i = 0; i < count; i++)
    blocks[i] = memset(malloc(bytes), 1, bytes);
  wait_for_looks();
  for (size_t i = 0; i < count; i++)
    if (i % (APART / bytes) != 0)
      free(blocks[i]);
  return 0;
}
