// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks and waits at one stack are counted separately for thousands of
// different sets of labels. Each thread caches only a few of its last buckets
// (counters for a stack and labels). After max_labels sets, events have the
// label "mprof=labels overflow".
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:block_rate=1:block_kinds=all:max_labels=3000:symbolize=0:log_path=x} ./app 2> err
// RUN: FileCheck %s --check-prefix=LINE < err
// LINE: labels_overflow 20{{$}}
// RUN: %mprof_read x.*.heap.pb.gz > heap
// RUN: grep -c 'sample: 2 10000 2 10000 bytes=5000 name=n[0-9]* :' heap | grep -x 3000
// RUN: FileCheck %s < heap
// CHECK: sample: 20 100000 20 100000 bytes=5000 mprof=labels overflow :
// RUN: %mprof_read x.*.block.pb.gz > block
// RUN: grep -c 'sample: 2 [0-9]* kind=sleep name=n[0-9]* :' block | grep -x 3000

#include "waited.h"

#include <time.h>

enum { SETS = 3000, TOO_MANY = 10 };

static void *volatile blocks[2 * (SETS + TOO_MANY)];

int main(void) {
  const struct timespec none = {0, 1};
  char value[16];
#pragma clang loop unroll(disable)
  for (int i = 0; i < 2 * (SETS + TOO_MANY); i++) {
    snprintf(value, sizeof(value), "n%d", i % (SETS + TOO_MANY));
    MPROF_LABELS("name", value);
    blocks[i] = malloc(5000);
    nanosleep(&none, NULL);
  }
  return 0;
}
