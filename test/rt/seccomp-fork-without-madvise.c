// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child starts with an empty profile and goes on, also if a
// seccomp filter refuses madvise, so that the child cannot give the memory of
// its parent's profile back.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1} ./app
// RUN: ls mprof.app.*.heap.pb.gz | wc -l | grep -qx 2

#include "records.h"
#include "refuse.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 1000 };

static void *volatile blocks[BLOCKS];

// Frees the blocks, and allocates a block of each of BLOCKS sizes.
static void allocate(void) {
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = malloc(100 + (size_t)i);
}

int main(void) {
  allocate();
  refuse_call(SYS_madvise, EPERM);
  const pid_t pid = fork();
  if (pid == 0) {
    EXPECT(601, 0, 0, 0);
    // First frees its parent's blocks, which are unknown here.
    for (int i = 0; i < 2; i++)
      allocate();
    EXPECT(601, 1, 2, 1);
    return 0;
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  EXPECT(601, 1, 1, 0);
  return 0;
}
