// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with -fmprof-alloc-size, functions of a library that have the
// attribute alloc_size are counted as allocators, by size or by count times
// size. A function that frees their blocks needs the attribute mprof_free. With
// -fno-mprof-alloc-size, and without a flag, these functions are not counted.
//
// RUN: rm -rf %t.dir && split-file %s %t.dir && cd %t.dir
// RUN: %clang -O2 -c library.c
// RUN: %mprof_clang -fmprof -fmprof-alloc-size -O2 -I%src/test/Inputs app.c \
// RUN:   library.o -o with
// RUN: %run_quiet{heap_rate=1} ./with 1
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs app.c library.o -o without
// RUN: %run_quiet{heap_rate=1} ./without 0
// RUN: %mprof_clang -fmprof -fmprof-alloc-size -fno-mprof-alloc-size -O2 \
// RUN:   -I%src/test/Inputs app.c library.o -o off
// RUN: %run_quiet{heap_rate=1} ./off 0

//--- library.h
#include <stddef.h>
void *lib_alloc(size_t n) __attribute__((malloc, alloc_size(1)));
void *lib_zeroed(size_t n, unsigned count) __attribute__((alloc_size(1, 2)));
void lib_free(void *p);

//--- library.c
#include "library.h"
static char memory[100000];
static size_t used;
void *lib_alloc(size_t n) { return memory + (used += n) - n; }
void *lib_zeroed(size_t n, unsigned count) { return lib_alloc(n * count); }
void lib_free(void *p) { (void)p; }

//--- app.c
#include "library.h"
#include "records.h"

void lib_free(void *p) MPROF_ATTR(mprof_free(1));

int main(int argc, char **argv) {
  unsigned n = argv[argc - 1][0] == '1';
  for (volatile int i = 0; i < 10; i++) {
    lib_free(lib_alloc(101));
    lib_zeroed(10, 11);
  }
  EXPECT(101, n, 10 * n, 10 * n);
  EXPECT(110, n, 10 * n, 0);
  return 0;
}
