// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: of a program that has freed all its memory, mprof run, top, traces,
// tree, list and diff show what it had allocated, and say so. With --sample,
// and in the formats for other programs, the values stay the chosen ones.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %mprof run -o out --heap-rate=1 ./app 2>&1 | FileCheck %s
// CHECK: inuse_space is 0, so these are the values of alloc_space:
// CHECK-NEXT: alloc_space of ./app
// RUN: cp out/*.heap.pb.gz app.pb.gz
// RUN: for i in top traces tree list; do %mprof $i app.pb.gz | FileCheck %s && %mprof $i app.pb.gz | grep main || exit 1; done
// RUN: %mprof list --function=main app.pb.gz | grep 'block = malloc(1000);'
// RUN: %mprof top --sample=inuse_space app.pb.gz | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-NOT: is 0
// CHOSEN: inuse_space of ./app
// CHOSEN: use --sample=alloc_space
// RUN: %mprof top --format=json app.pb.gz | grep '"type": "inuse_space"'
// RUN: %mprof top --format=md app.pb.gz 2>&1 | grep 'mprof top: note: inuse_space is 0'
// RUN: %mprof diff out out 2>&1 | FileCheck %s --check-prefix=DIFF
// DIFF: mprof diff: note: inuse_space is 0 on both sides, so alloc_space is compared

#include <stdlib.h>

static void *volatile block;

int main(void) {
  block = malloc(1000);
  free(block);
  return 0;
}
