// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in sampled mode the heapx profile estimates temporary blocks, moved
// blocks, copied bytes and slack (bytes beyond the requested size). The
// estimates are within 5 sigma of the true numbers. A block is never counted as
// temporary if the thread makes another allocation before it frees the block.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O2 %s -lm -o app
// RUN: %mprof_clang -fmprof -fmprof-intercept -O2 %s -lm -o intercepted
// RUN: for rate in 2000 65536; do for seed in 1 2; do \
// RUN:   for app in app intercepted; do \
// RUN:   export MPROF_OPTIONS=heap_rate=$rate:seed=$seed:heapx=1:log_path=p; \
// RUN:   ./$app $rate > truth && \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth && \
// RUN:   rm p.* || exit 1; done; done; done

#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 30000 };
static void *volatile a, *volatile b;
static double rate;

// Prints the expected range for n events of blocks of size bytes, each of which
// counts as value.
static void put(const char *name, size_t size, double n, double value) {
  double p = 1 - exp(-(double)size / rate);
  double sigma = sqrt(n * (1 - p) / p) * value;
  printf(" %s=%.0f..%.0f", name, n * value - 5 * sigma - 1,
         n * value + 5 * sigma + 1);
}

static void at_once(size_t size) {
  size_t slack = 0;
  for (int i = 0; i < N; i++) {
    a = malloc(size);
    slack = malloc_usable_size(a) - size;
    free(a);
  }
  printf("%zu", size);
  put("temporary_objects", size, N, 1);
  put("temporary_space", size, N, (double)size);
  put("alloc_slack_space", size, N, (double)slack);
  printf(" slack_space=0 in_place=0 moved=0\n");
}

static void after_the_next(size_t size) {
  for (int i = 0; i < N; i++) {
    a = malloc(size);
    b = malloc(1);
    free(a);
    free(b);
  }
  printf("%zu temporary_objects=0 slack_space=0\n", size);
}

static void resized(size_t size, size_t to) {
  int moved = 0;
  for (int i = 0; i < N; i++) {
    a = malloc(size);
    b = malloc(24); // behind a's block, so that a cannot always grow
    uintptr_t before = (uintptr_t)a;
    a = realloc(a, to);
    moved += (uintptr_t)a != before;
    free(a);
    free(b);
  }
  printf("%zu temporary_objects=0", size);
  put("in_place", size, N - moved, 1);
  put("moved", size, moved, 1);
  put("copied_space", size, moved, (double)(size < to ? size : to));
  printf("\n%zu", to);
  put("temporary_objects", to, N, 1);
  printf("\n");
}

// Resizes each block by the very next allocation.
static void resized_at_once(size_t size, size_t to) {
  int moved = 0;
  for (int i = 0; i < N; i++) {
    a = malloc(size);
    uintptr_t before = (uintptr_t)a;
    a = realloc(a, to);
    moved += (uintptr_t)a != before;
    free(a);
  }
  printf("%zu", size);
  put("temporary_objects", size, N, 1);
  put("in_place", size, N - moved, 1);
  printf("\n%zu", to);
  put("temporary_objects", to, N, 1);
  printf("\n");
}

int main(int argc, char **argv) {
  rate = argc > 1 ? atof(argv[1]) : 0;
  at_once(61), at_once(501), at_once(3001);
  after_the_next(1001), after_the_next(5001);
  resized(201, 2101), resized(2201, 202), resized(999, 1003);
  resized_at_once(1501, 1601);
  return 0;
}
