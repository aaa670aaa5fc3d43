// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the names of the files that a process writes at a signal and survives
// contain the time. Only the newest dump_keep snapshots stay, and the files of
// the process's end.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:dump_on_signal=URG:dump_keep=3:format=1:log_path=x} ./app
// RUN: ls x.* | grep -cE '^x\.[0-9]+\.20[0-9]{6}T[0-9]{6}(\.[0-9]+)?(\.heap)?\.txt$' \
// RUN:   | grep -qx 6
// RUN: ls x.* | grep -cE '^x\.[0-9]+(\.heap)?\.txt$' | grep -qx 2
// Snapshot i has i blocks, and the last files have 20.
// RUN: for n in 18 19 20; do \
// RUN:   grep -l "^heap profile: $n:" x.*T*.heap.txt || exit 1; done
//
// The number of snapshots is limited by default.
// RUN: %run{heap_rate=1:dump_on_signal=URG:format=1:log_path=y} ./app
// RUN: ls y.*T*.heap.txt | wc -l | grep -qx 16
// RUN: %run{heap_rate=1:dump_on_signal=URG:dump_keep=0:log_path=z} ./app
// RUN: ls z.*T*.heap.pb.gz | wc -l | grep -qx 20

#include "records.h"

#include <signal.h>

static void *volatile sink;

int main(void) {
  for (int i = 0; i < 20; i++) {
    sink = malloc(100);
    raise(SIGURG);
  }
  return 0;
}
