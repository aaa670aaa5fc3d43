// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a process survives a signal of dump_on_signal, the files written
// at this signal are snapshots with the time in their names. Only the newest
// dump_keep snapshots stay, together with the files written at exit. If the
// program changes its directory, files with the names of old snapshots in the
// new directory stay.
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
//
// A relative log_path. The program enters a directory that has links to the
// snapshots, which therefore have the same names.
// RUN: mkdir later
// RUN: %run{heap_rate=1:dump_on_signal=URG:dump_keep=3:format=1:log_path=w} \
// RUN:   ./app later
// RUN: ls w.*T*.heap.txt | wc -l | grep -qx 3
// RUN: ls later/w.*T*.heap.txt | wc -l | grep -qx 6

#include "records.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void *volatile sink;

static void take_snapshots(int n) {
  for (int i = 0; i < n; i++) {
    sink = malloc(100);
    raise(SIGURG);
  }
}

static void link_snapshots(const char *directory) {
  glob_t found;
  CHECK_EQ(glob("w.*T*.txt", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char name[256];
    snprintf(name, sizeof(name), "%s/%s", directory, found.gl_pathv[i]);
    CHECK_EQ(link(found.gl_pathv[i], name), 0);
  }
  globfree(&found);
}

int main(int argc, char **argv) {
  if (argc == 1) {
    take_snapshots(20);
    return 0;
  }
  take_snapshots(3);
  link_snapshots(argv[1]);
  CHECK_EQ(chdir(argv[1]), 0);
  take_snapshots(3);
  return 0;
}
