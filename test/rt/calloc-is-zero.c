// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in sampled mode calloc returns zeros, whatever the block held before.
// The test has blocks that the runtime has kept for reuse, blocks of the heap,
// and blocks with a mapping of their own. MALLOC_PERTURB_ makes libc fill
// blocks with other bytes.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{seed=3} %t
// RUN: %run_quiet{seed=4} %t mapped
// RUN: %run_quiet{seed=5} MALLOC_PERTURB_=165 %t
// RUN: %run_quiet{seed=6} MALLOC_PERTURB_=165 %t mapped

#include "records.h"

#include <malloc.h>
#include <string.h>

static unsigned char *volatile p;

static int is_zero(size_t n) {
  return n == 0 ||
         (p[0] == 0 && memcmp((void *)p, (void *)(p + 1), n - 1) == 0);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    mallopt(M_MMAP_THRESHOLD, 4096);
  const size_t sizes[] = {40, 1000, 5000, 12000, 28000, 70000, 200000, 900000};
  for (int round = 0; round < 400; round++)
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      p = calloc(1, sizes[i]);
      CHECK(is_zero(sizes[i]));
      // The first 16 bytes stay zero, so they alone do not show that calloc
      // must clear the block.
      memset(p + 16, 0x5a, sizes[i] - 16);
      free(p);
    }
  CHECK(counted_of(28000).allocs > 5);
  return 0;
}
