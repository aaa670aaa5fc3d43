// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an allocator's calloc and realloc call malloc and free by their
// public names, which MProf intercepts. Each block is still counted once,
// whether instrumented or other code allocates it. This holds for a preloaded
// allocator and for a static program. In sampled mode the inner call of malloc
// does not change the estimate. The estimate for 20,000 blocks has a standard
// deviation of 390, and is right within five of these.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DALLOCATOR -DREST %s \
// RUN:   -o allocator.so
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s ./library.so -o app
// RUN: %run_quiet{heap_rate=1} LD_PRELOAD=$PWD/allocator.so ./app
// RUN: %run{heap_rate=512:seed=2:report=0:log_path=shared} \
// RUN:   LD_PRELOAD=$PWD/allocator.so ./app sampled
// RUN: %clang -O1 -fno-builtin -DALLOCATOR -c %s -o allocator.o
// RUN: %clang -O1 -fno-builtin -DREST -c %s -o rest.o
// RUN: %clang -O1 -fno-builtin -DLIBRARY -c %s -o library.o
// RUN: %mprof_clang -fmprof -O1 -g1 -static -I%src/test/Inputs %s library.o \
// RUN:   allocator.o rest.o -o app-static
// RUN: %run_quiet{heap_rate=1} ./app-static
// RUN: %run{heap_rate=512:seed=2:report=0:log_path=static} ./app-static sampled
// RUN: for how in shared static; do \
// RUN:   %go tool pprof -sample_index=alloc_objects -top $how.*.heap.pb.gz \
// RUN:     > $how.top && awk '$6 == "main" { n = $4 } END { exit !(n > 18050 && n < 21950) }' \
// RUN:     $how.top || exit 1; done

#include <stdlib.h>
#include <string.h>

#if defined(ALLOCATOR) || defined(REST)
enum { HEAD = 16 };
#endif

#ifdef ALLOCATOR
// Only the last block can be freed, which is enough here.
static char arena[64 << 20];
static size_t used;

void *malloc(size_t n) {
  size_t size = (n + HEAD + 15) & ~(size_t)15;
  if (size < n || size > sizeof(arena) - used)
    return NULL;
  char *p = arena + used;
  used += size;
  *(size_t *)p = n;
  return p + HEAD;
}
void free(void *p) {
  char *start = p ? (char *)p - HEAD : NULL;
  if (p &&
      start + ((*(size_t *)start + HEAD + 15) & ~(size_t)15) == arena + used)
    used = (size_t)(start - arena);
}
#endif

#ifdef REST
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

#endif

#if defined(LIBRARY)

void use(void) {
  char *p = calloc(1, 4001);
  p = realloc(p, 4002);
  free(p);
}

#elif !defined(ALLOCATOR) && !defined(REST)

#include "records.h"

extern void use(void);
static void *volatile p;

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; argc > 1 && i < 20000; i++) {
    p = calloc(1, 64);
    free(p);
  }
  if (argc > 1)
    return 0;
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
