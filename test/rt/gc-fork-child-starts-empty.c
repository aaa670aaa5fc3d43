// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child counts neither the parent's objects of libgc nor the
// collection of these objects, but it counts its own objects. The parent's
// profile does not change.
//
// REQUIRES: libgc
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t -lgc
// RUN: %run_quiet{heap_rate=1} %t

#include "gc.h"

#include <sys/wait.h>
#include <unistd.h>

static void **objects;

int main(void) {
  GC_set_handle_fork(1);
  start();
  objects = GC_MALLOC_UNCOLLECTABLE(32 * sizeof(void *));
  row_size = 80;
  allocate(objects, 20), collect(), READ(20, 0);
  pid_t pid = fork();
  if (pid == 0) {
    READ(0, 0);
    GC_FREE(objects[19]);
    drop(objects, 20), collect(), READ(0, 0);
    allocate(objects, 7), drop(objects, 3), collect(), READ(7, 3);
    _exit(0);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  drop(objects, 10), collect(), READ(20, 10);
  return 0;
}
