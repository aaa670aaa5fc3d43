// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a signal of dump_on_signal arrives while the process writes its
// files at exit, the files are completed and not written a second time. Then
// the signal ends the process.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: printf '#!/bin/sh\nkill -TERM $(cat pid)\nexit 1' > mprof
// RUN: chmod +x mprof
// RUN: %mprof_clang -fmprof -O1 -g -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:dump_on_signal=TERM:log_path=x:external_symbolizer_path=./mprof} \
// RUN:   %python %S/Inputs/ends_by.py TERM ./app
// RUN: ls x.*.heap.pb.gz | wc -l | grep -qx 1
// RUN: ls x.*.txt | wc -l | grep -qx 1

#include "records.h"

#include <unistd.h>

static void *volatile sink;

int main(void) {
  sink = malloc(401);
  FILE *f = fopen("pid", "w");
  CHECK(f != NULL && fprintf(f, "%d", (int)getpid()) > 0 && fclose(f) == 0);
  return 0;
}
