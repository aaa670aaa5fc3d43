// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests with libgc: they allocate, drop and collect objects of one
// size, and read what the profile has counted of them. The collector scans
// stacks conservatively. Functions that handle addresses are therefore not
// inlined, and their frames are overwritten afterwards.

#ifndef MPROF_TEST_INPUTS_GC_H
#define MPROF_TEST_INPUTS_GC_H

#include "check.h"

#include <mprof/mprof.h>

#include <gc/gc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t row_size;

__attribute__((noinline)) static void clear_stack(void) {
  volatile char dead[8192];
  memset((char *)dead, 0, sizeof(dead));
  __asm__ volatile("" : : "r"(dead) : "memory");
}

__attribute__((noinline)) static void allocate_here(void **to, int n) {
  for (int i = 0; i < n; i++)
    to[i] = GC_MALLOC(row_size);
}

__attribute__((unused)) static void allocate(void **to, int n) {
  allocate_here(to, n);
  clear_stack();
}

__attribute__((unused)) static void drop(void **from, int n) {
  memset(from, 0, (size_t)n * sizeof(from[0]));
}

__attribute__((unused)) static void collect(void) {
  clear_stack();
  GC_gcollect();
}

// Starts libgc so that it collects only when a test asks for it.
__attribute__((unused)) static void start(void) {
  GC_set_free_space_divisor(1);
  GC_INIT();
  GC_expand_hp(16 << 20);
}

struct gc_counts {
  long long allocs, frees;
};

// Returns the counts of objects of n bytes as of the last collection. Reading
// the profile does not publish later events.
__attribute__((noinline, unused)) static struct gc_counts counts_of(size_t n) {
  static struct mprof_mem_record r[256];
  struct gc_counts c = {0, 0};
  size_t len;
  CHECK(mprof_mem_profile(r, 256, 1, &len) == 0);
  for (size_t i = 0; i < len; i++)
    if (r[i].alloc_objects > 0 &&
        r[i].alloc_bytes == r[i].alloc_objects * (long long)n) {
      c.allocs += r[i].alloc_objects;
      c.frees += r[i].free_objects;
    }
  return c;
}

// Compares the counts. Allocations are exact; one free may be missing, of an
// object that the collector still finds on a stack.
__attribute__((unused)) static void
check_read(const char *file, int line, long long allocs, long long frees) {
  struct gc_counts c = counts_of(row_size);
  if (c.allocs == allocs && c.frees <= frees && c.frees + 1 >= frees)
    return;
  fprintf(stderr, "%s:%d: read (%lld,%lld), not (%lld,%lld)\n", file, line,
          c.allocs, c.frees, allocs, frees);
  exit(1);
}
#define READ(allocs, frees) check_read(__FILE__, __LINE__, allocs, frees)

#endif // MPROF_TEST_INPUTS_GC_H
