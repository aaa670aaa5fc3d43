// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocator reports a double free of a sampled block, as it does
// without MProf, although MProf may keep a freed sampled block for reuse.
//
// RUN: %mprof_clang -fmprof -O1 %s -o %t
// RUN: not --crash %run_quiet{seed=3} %t 2> %t.err
// RUN: grep -q "double free" %t.err

#include <stdint.h>
#include <stdlib.h>

int main(void) {
  // A sampled block is on a page boundary.
  for (int i = 0; i < 1000000; i++) {
    void *volatile p = malloc(200);
    free(p);
    if (((uintptr_t)p & 4095) == 0) {
      free(p);
      return 0; // not reached
    }
  }
  return 0;
}
