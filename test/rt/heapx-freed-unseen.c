// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf may learn that a block was freed only when its address is used
// again. The heapx profile then does not count the block as temporary, and no
// longer counts its slack (bytes beyond the requested size) as in use.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 %s -o app
// RUN: %run{heap_rate=1:heapx=1:log_path=p:report=0} ./app > truth
// RUN: %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile sink;
static void (*volatile unseen_free)(void *) = free;

int main(void) {
  enum { N = 100 };
  size_t slack = 0;
  for (int i = 0; i <= N; i++) {
    void *p = sink = malloc(101);
    slack = malloc_usable_size(p) - 101;
    if (i == N)
      break; // the last block stays
    unseen_free(p);
    sink = malloc(102);
    if (sink != p)
      return 1;
    unseen_free(sink);
  }
  printf("101 temporary_objects=0 alloc_slack_space=%zu slack_space=%zu\n",
         (N + 1) * slack, slack);
  return slack == 0;
}
