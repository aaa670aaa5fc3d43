// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block is temporary if its thread frees it before the thread
// allocates again, with whichever functions. With heap_rate=1 the heapx profile
// counts exactly these blocks as temporary.
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

enum { N = 500 };
static void *volatile a, *volatile b;
static char *volatile text;
static volatile size_t too_many = SIZE_MAX / 4;

static void row(int size, int temporary) {
  printf("%d temporary_objects=%d temporary_space=%d\n", size, temporary,
         temporary * size);
}

static void at_once(void) {
  for (int i = 0; i < N; i++) {
    a = malloc(101);
    free(a);
  }
}

// The inner block is temporary; freeing other blocks in between does not
// matter.
static void nested(void) {
  for (int i = 0; i < N; i++) {
    a = malloc(102);
    b = malloc(103);
    free(a);
    free(b);
  }
}

static void after_the_next(void) {
  for (int i = 0; i < N; i++) {
    a = malloc(104);
    b = calloc(1, 105);
    free(b);
    free(a);
  }
}

// The address is the same, but the block is not.
static void reused(void) {
  void *kept = malloc(106);
  for (int i = 0; i < N; i++) {
    free(kept);
    kept = malloc(106);
  }
  a = malloc(1);
  free(kept);
  free(a);
}

static void of_no_size(void) {
  for (int i = 0; i < N; i++) {
    a = malloc(107);
    b = malloc(0);
    free(a);
    free(b);
  }
}

// Each step frees the block of the step before; the last block is not freed.
static void by_realloc(void) {
  void *p = NULL;
  for (size_t i = 0; i < 5; i++)
    a = p = realloc(p, 1000 + i);
}

// A failed call allocates nothing and leaves the old block as it was.
static void by_failures(void) {
  for (int i = 0; i < N; i++) {
    a = malloc(108);
    b = malloc(too_many);
    if (b || realloc(a, too_many))
      exit(1);
    free(a);
  }
}

static void by_others(void) {
  for (int i = 0; i < N; i++) {
    a = strdup(text);
    free(a);
    if (posix_memalign((void **)&a, 64, 202) != 0)
      exit(1);
    free(a);
    a = aligned_alloc(64, 256);
    a = reallocarray(a, 3, 101);
    free(a);
  }
}

int main(void) {
  static char chars[200];
  text = memset(chars, 'x', sizeof(chars) - 1);
  at_once(), nested(), after_the_next(), reused(), of_no_size();
  by_realloc(), by_failures(), by_others();
  row(101, N), row(102, 0), row(103, N), row(104, 0), row(105, N);
  row(106, N), row(107, 0), row(0, N), row(108, N);
  for (int i = 0; i < 5; i++)
    row(1000 + i, i < 4);
  row(200, N), row(202, N), row(256, N), row(303, N);
  return 0;
}
