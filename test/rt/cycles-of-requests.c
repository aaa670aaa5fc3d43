// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that calls mprof_next_cycle after each request sees the
// heap as it was at the end of the last request. This holds in records and in
// files, even in the middle of the next request. Blocks that a request has
// freed are not shown as in use, but blocks that it has left are. The files at
// exit show the whole run, unless strict_cycles is set. In a program that never
// calls mprof_next_cycle, each file shows all events so far.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:format=1:log_path=with} ./app cycles
// RUN: %run{heap_rate=1:format=1:log_path=without} ./app
// RUN: %run{heap_rate=1:format=1:log_path=strict:strict_cycles=1} ./app cycles
// RUN: head -qn 1 boundary.txt anytime.txt with.*.heap.txt without.*.heap.txt \
// RUN:   strict.*.heap.txt | FileCheck %s
// CHECK:      heap profile: 4: 28 [413: 2891]
// CHECK-NEXT: heap profile: 7: 49 [416: 2912]
// CHECK-NEXT: heap profile: 0: 0 [416: 2912]
// CHECK-NEXT: heap profile: 0: 0 [416: 2912]
// CHECK-NEXT: heap profile: 4: 28 [413: 2891]

#include "records.h"

#include <string.h>

enum { SIZE = 7 };

static void *block(void) { return malloc(SIZE); }

static void *volatile left[16];
static unsigned used;

static void request(void) {
  for (int i = 0; i < 100; i++) {
    void *volatile p = block();
    free(p);
  }
  left[used++] = block();
}

// Returns the sums of the records, as seen at any time.
static struct mprof_mem_record seen(void) {
  struct mprof_mem_record r[64], sum = {0};
  size_t n;
  CHECK(mprof_mem_profile(r, 64, 1, &n) == 0);
  for (size_t i = 0; i < n; i++) {
    sum.alloc_objects += r[i].alloc_objects;
    sum.free_objects += r[i].free_objects;
  }
  return sum;
}

int main(int argc, char **argv) {
  int ends_cycles = argc > 1 && strcmp(argv[1], "cycles") == 0;
  for (int k = 0; k < 4; k++) {
    request();
    if (ends_cycles)
      mprof_next_cycle();
    // The next request is running: it has three blocks that it will free.
    void *volatile p[3] = {block(), block(), block()};
    const char *path = ends_cycles ? "boundary.txt" : "anytime.txt";
    CHECK(mprof_write_profile("heap", path, 1) == 0);
    if (ends_cycles) {
      struct mprof_mem_record r = seen();
      CHECK(r.alloc_objects == 104 * k + 101);
      CHECK(r.free_objects == 103 * k + 100);
    }
    for (int i = 0; i < 3; i++)
      if (k == 3)
        left[used++] = p[i];
      else
        free(p[i]);
  }
  while (used > 0)
    free(left[--used]);
  return 0;
}
