// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 the heapx profile counts how many resized blocks
// stayed in place, how many moved, and how many bytes were copied. The counts
// are at the stacks of the resized blocks. The program computes the same
// numbers by comparing pointers.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: export MPROF_OPTIONS=heap_rate=1:heapx=1:log_path=p:report=0
// RUN: for o in -O0 "-O2 -fno-mprof-intercept" "-O2 -fmprof-intercept"; do \
// RUN:   %mprof_clang -fmprof $o %s -o app && ./app > truth && \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth && \
// RUN:   rm p.*.heap*.pb.gz || exit 1; done

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60 };
static struct {
  size_t size;
  unsigned long long in_place, moved, copied;
} truth[2000];
static size_t sizes;
static void *volatile between;
static volatile size_t too_many = SIZE_MAX / 4;

static void note(size_t size, uintptr_t before, void *p, size_t new_size) {
  size_t i = 0;
  while (i < sizes && truth[i].size != size)
    i++;
  if (i == sizes)
    truth[sizes++].size = size;
  if ((uintptr_t)p == before) {
    truth[i].in_place++;
  } else {
    truth[i].moved++;
    truth[i].copied += size < new_size ? size : new_size;
  }
}

// Grows a block, then shrinks it, with and without blocks behind it.
static void *resize_much(size_t size, int has_neighbours) {
  char *p = malloc(size);
  for (int i = 0; i < STEPS; i++) {
    size_t next = i < STEPS * 2 / 3 ? size + size / 7 + 1 : size * 3 / 4 + 1;
    uintptr_t before = (uintptr_t)p;
    if (has_neighbours)
      between = malloc(5);
    p = i % 2 ? realloc(p, next) : reallocarray(p, 1, next);
    note(size, before, p, next);
    size = next;
    if (realloc(p, too_many) != NULL) // fails: nothing was resized
      exit(1);
  }
  return p;
}

int main(void) {
  void *volatile p = NULL;
  p = realloc(p, 77); // counts as an allocation
  free(resize_much(78, 0));
  free(resize_much(79, 1));
  free(resize_much(70000, 0)); // at sizes that have mappings of their own
  free(resize_much(90000, 1));
  if (p == NULL || (p = realloc(p, 0)) != NULL) // counts as a free
    exit(1);
  printf("77 in_place=0 moved=0 copied_space=0\n");
  unsigned long long in_place = 0, moved = 0;
  for (size_t i = 0; i < sizes; i++) {
    in_place += truth[i].in_place;
    moved += truth[i].moved;
    printf("%zu in_place=%llu moved=%llu copied_space=%llu\n", truth[i].size,
           truth[i].in_place, truth[i].moved, truth[i].copied);
  }
  return in_place < 10 || moved < 10; // else the test has seen too little
}
