// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a preloaded allocator whose calloc and realloc call malloc and free
// by the names that everybody calls has each block counted once, from sites and
// from code without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DALLOCATOR %s -o allocator.so
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s ./library.so -o app
// RUN: env MPROF_OPTIONS=heap_rate=1:report=0:profile=0 \
// RUN:   LD_PRELOAD=$PWD/allocator.so ./app

#include <stdlib.h>
#include <string.h>

#ifdef ALLOCATOR

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

enum { HEAD = 16 };
void *malloc(size_t n) {
  char *p = __libc_malloc(n + HEAD);
  *(size_t *)p = n;
  return p + HEAD;
}
void free(void *p) {
  if (p)
    __libc_free((char *)p - HEAD);
}
void *calloc(size_t n, size_t each) {
  return memset(malloc(n * each), 0, n * each);
}
void *realloc(void *old, size_t n) {
  void *p = malloc(n);
  if (old) {
    size_t had = *(size_t *)((char *)old - HEAD);
    memcpy(p, old, had < n ? had : n);
    free(old);
  }
  return p;
}

#elif defined(LIBRARY)

void use(void) {
  char *p = calloc(1, 4001);
  p = realloc(p, 4002);
  free(p);
}

#else

#include "records.h"

extern void use(void);
static void *volatile p;

int main(void) {
  for (int i = 0; i < 500; i++) {
    p = calloc(1, 3001);
    p = realloc(p, 3002);
    free(p);
    use();
  }
  for (size_t size = 3001; size <= 3002; size++)
    EXPECT(size, 1, 500, 500);
  for (size_t size = 4001; size <= 4002; size++)
    EXPECT(size, 1, 500, 500);
  return 0;
}
#endif
