// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads map, move and unmap memory at the same time, so that each
// gets addresses that another one has just unmapped. All calls are counted, and
// at the end nothing is in use.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g -pthread %s -o app
// RUN: %run{log_path=x} ./app
// RUN: %python %src/test/Inputs/mmap_rows.py %build/bin/mprof x.*.mmap.pb.gz > rows
// RUN: FileCheck --match-full-lines %s < rows
// CHECK:      grow 20000 81920000 0 0
// CHECK-NEXT: map 20000 81920000 0 0
// CHECK-NOT:  {{.}}

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "../Inputs/check.h"

enum { THREADS = 4, ROUNDS = 5000, PAGE = 4096 };

__attribute__((noinline)) static char *map(void) {
  char *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(p != MAP_FAILED);
  return p;
}

__attribute__((noinline)) static char *grow(char *p) {
  p = mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
  NEED(p != MAP_FAILED);
  return p;
}

static void *run(void *arg) {
  for (int i = 0; i < ROUNDS; i++)
    NEED(munmap(grow(map()), 2 * PAGE) == 0);
  return arg;
}

int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_create(&t[i], NULL, run, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  return 0;
}
