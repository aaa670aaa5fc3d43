// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with children_keep=N, the files of the N forked children that ended
// last stay, also those of a child's child. The files of the first process and
// files of other runs stay, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=all:format=1} ./app
// RUN: ls all.*.heap.txt | wc -l | grep -qx 9
// RUN: touch x.1.heap.txt x.1.txt
// RUN: %run{heap_rate=1:log_path=x:children_keep=3:format=1} ./app
// RUN: ls x.*.heap.txt | wc -l | grep -qx 5
// RUN: ls x.* | wc -l | grep -qx 10
// Child i allocates a block of 1,000 + i bytes. The last one is a child of
// child 6.
// RUN: for size in 1005 1006 1007 8000; do \
// RUN:   grep -l "1: $size " x.*.heap.txt | wc -l | grep -qx 1 || exit 1; done
// RUN: not grep -l "1: 1004 " x.*.heap.txt

#include "records.h"

#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

static int wait_for(pid_t pid) {
  int status;
  return waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(void) {
  sink = malloc(8000);
  for (int i = 0; i < 7; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      sink = malloc(1000 + (size_t)i);
      if (i < 6)
        return 0;
      pid = fork();
      if (pid != 0)
        return wait_for(pid) == 0 ? 0 : 1;
      sink = malloc(1007);
      return 0;
    }
    CHECK_EQ(wait_for(pid), 0);
  }
  return 0;
}
