// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the heapx profile has the number of freed blocks and the sum of their
// lifetimes. Blocks in use have no lifetime. A realloc ends a lifetime, unless
// it fails. It does not matter which thread frees a block, and whether it is a
// block of the program's own allocator. The numbers of freed blocks have the
// lifetimes as labels, and the report has their mean and a bound of 99 %.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread %s -o app
// RUN: %run{heap_rate=1:heapx=1:log_path=p} ./app > truth
// RUN: %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth
//
// A single block lived for less than its label says, and for at least half.
// RUN: for size in 1003 1004 1006; do \
// RUN:   %mprof_read p.*.heapx.pb.gz | grep "bytes=$size " > $size && \
// RUN:   life=$(awk '!/lifetime=/ {print $10}' $size) && \
// RUN:   bound=$(sed -n 's/.* lifetime=\([0-9]*\) .*/\1/p' $size) && \
// RUN:   test $life -lt $bound -a $((2 * life)) -ge $bound || exit 1; done
// RUN: %mprof traces --sample=freed_objects p.*.heapx.pb.gz | FileCheck %s
// CHECK: lifetime: {{[0-9, ]+}}
// RUN: FileCheck %s --check-prefix=REPORT < p.*.txt
// REPORT: {{^Lifetime:  [0-9.]+ [a-z]+ on average, 99 % less than [0-9.]+ [a-z]+$}}
// REPORT: Stacks with the most temporary blocks
// REPORT: {{; lifetime [0-9.]+ [a-z]+ on average, 99 % less than [0-9.]+ [a-z]+$}}

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000, PAUSE_US = 20000 };

static void *volatile blocks[N];
static void *volatile sink;
static volatile size_t too_many = SIZE_MAX / 4;

__attribute__((mprof_alloc(1), noinline)) static void *get(size_t size) {
  char *p = malloc(size + 24);
  return p ? p + 24 : NULL;
}

__attribute__((mprof_free(1), noinline)) static void put(void *p) {
  free((char *)p - 24);
}

// The speed of the clock is measured, so the lifetimes may be a little shorter
// than the pauses.
static void row(int size, int freed, double least_ns) {
  printf("%d freed_objects=%d lifetime=%.0f..1e18\n", size, freed, least_ns);
}

static void *free_all(void *unused) {
  for (int i = 0; i < N; i++)
    free(blocks[i]);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; i++)
    free(sink = malloc(1001));
  row(1001, 10, 10);
  sink = malloc(1002); // stays in use
  puts("1002 freed_objects=0 lifetime=0");
  sink = malloc(1003);
  usleep(PAUSE_US);
  sink = realloc(sink, 1004);
  if (realloc(sink, too_many))
    return 1;
  usleep(PAUSE_US);
  free(sink);
  row(1003, 1, PAUSE_US * 900.0);
  row(1004, 1, PAUSE_US * 900.0);
  for (int i = 0; i < N; i++)
    blocks[i] = malloc(1005);
  usleep(PAUSE_US);
  pthread_t thread;
  if (pthread_create(&thread, NULL, free_all, NULL) != 0)
    return 1;
  pthread_join(thread, NULL);
  row(1005, N, N * PAUSE_US * 900.0);
  sink = get(1006);
  usleep(PAUSE_US);
  put(sink);
  row(1006, 1, PAUSE_US * 900.0);
  return 0;
}
