// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a realloc that counts a block keeps all bytes that malloc_usable_size
// promises, also the last ones of a block that glibc has mapped.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=0:seed=1} %t

#include "check.h"

#include <malloc.h>
#include <mprof/mprof.h>
#include <stdlib.h>
#include <string.h>

static void resize(size_t from, size_t to) {
  mprof_set_heap_rate(0);
  char *p = malloc(from);
  NEED(p != NULL);
  const size_t usable = malloc_usable_size(p);
  memset(p, 7, usable);
  mprof_set_heap_rate(65536);
  p = realloc(p, to);
  NEED(p != NULL);
  // A counted block is on a page boundary, so the resize has copied it.
  CHECK_EQ((size_t)p % 4096, 0);
  for (size_t i = 0; i < usable; i++)
    NEED(p[i] == 7);
  free(p);
}

int main(void) {
  mallopt(M_MMAP_THRESHOLD, 128 << 10); // frees do not raise it any more
  for (size_t kib = 1; kib <= 1024; kib *= 4) {
    resize(kib << 10, 16 << 20);
    resize((kib << 10) + 4000, 16 << 20);
  }
  return 0;
}
