// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the title of a profile of waits says if only a part of them was
// counted.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o app
// RUN: %run_quiet{mutex_fraction=10:block_rate=1000} ./app sampled
// RUN: %run_quiet{mutex_fraction=1:block_rate=1} ./app all
// RUN: %mprof top sampled.mutex | FileCheck %s --check-prefix=MUTEX
// MUTEX: mutex profile: who let others wait, sampled, 1 of 10,
// RUN: %mprof top sampled.block | FileCheck %s --check-prefix=BLOCK
// BLOCK: block profile: who waited, sampled, 1 for each 1000 ns of waiting,
// RUN: %mprof top all.mutex > out && %mprof top all.block >> out
// RUN: not grep sampled, out

#include <mprof/mprof.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char path[64];
  (void)argc;
  snprintf(path, sizeof path, "%s.mutex", argv[1]);
  int error = mprof_write_profile("mutex", path, 0);
  snprintf(path, sizeof path, "%s.block", argv[1]);
  return error ? error : mprof_write_profile("block", path, 0);
}
