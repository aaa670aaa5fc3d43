// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: beyond max_memory_mb, MProf drops events and reports that it did. The
// program goes on, and earlier counts stay correct.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:max_memory_mb=4:log_path=out.%%p} ./app
// RUN: grep -q "max_memory_mb" out.*.txt
// RUN: %mprof_read out.*.heap.pb.gz > dump
// RUN: grep -q "comment: .*max_memory_mb" dump

#include "records.h"

static void *volatile sink;

int main(void) {
  sink = malloc(77);
  for (size_t i = 1; i < 100000; i++) {
    sink = malloc(100 + i % 50000);
    free(sink);
  }
  EXPECT(77, 1, 1, 0);
  return 0;
}
