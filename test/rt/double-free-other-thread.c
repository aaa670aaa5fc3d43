// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocator reports a double free of a sampled block also if
// another thread frees the block for the second time, although the first thread
// keeps the block for reuse.
//
// RUN: %mprof_clang -fmprof -O1 -pthread %s -o %t
// RUN: not --crash %run_quiet{seed=3} %t 2> %t.err
// RUN: grep -q "double free" %t.err

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static void *free_again(void *p) {
  free(p);
  return NULL;
}

int main(void) {
  // A sampled block is on a page boundary.
  for (int i = 0; i < 1000000; i++) {
    void *volatile p = malloc(200);
    free(p);
    if (((uintptr_t)p & 4095) == 0) {
      pthread_t t;
      if (pthread_create(&t, NULL, free_again, p) != 0)
        return 1;
      pthread_join(t, NULL);
      return 0; // not reached
    }
  }
  return 0;
}
