// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program defines malloc, free, calloc, realloc and
// malloc_usable_size, but not the aligned functions. The program's free never
// gets a block of libc's allocator, whether or not a block is sampled.
//
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o %t
// RUN: %run_quiet{seed=3} %t
// RUN: %run_quiet{heap_rate=1} %t

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char heap[64 << 20] __attribute__((aligned(16)));
static size_t used;
struct head {
  size_t size, unused;
};

void *malloc(size_t n) {
  n = (n + 15) & ~(size_t)15;
  char *p = heap + __atomic_fetch_add(&used, n + sizeof(struct head),
                                      __ATOMIC_RELAXED);
  ((struct head *)p)->size = n;
  return p + sizeof(struct head);
}
void free(void *p) {
  static const char text[] = "free: not a block of this heap\n";
  if (!p || ((char *)p >= heap && (char *)p < heap + sizeof(heap)))
    return;
  if (write(2, text, sizeof(text) - 1) > 0)
    _exit(1);
}
void *calloc(size_t a, size_t b) { return malloc(a * b); }
size_t malloc_usable_size(void *p) {
  return p ? ((struct head *)p)[-1].size : 0;
}
void *realloc(void *old, size_t n) {
  void *p = malloc(n);
  size_t had = malloc_usable_size(old);
  if (old)
    memcpy(p, old, had < n ? had : n);
  return p;
}

static void *volatile p;

int main(void) {
  for (int i = 0; i < 50000; i++) {
    p = malloc(500);
    p = realloc(p, 600);
    free(p);
  }
  return 0;
}
