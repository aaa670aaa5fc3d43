// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the blocks of a bundled allocator with the prefix je_, mi_, tc_, rp
// or sn_ are in the heap profile until they are freed. The memory that this
// allocator takes from malloc is not counted a second time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %mprof_clang -fmprof -O1 -g1 -DALLOCATOR -c %s -o allocator.o
// RUN: %mprof_clang -fmprof -O1 -g1 -DPROGRAM %s allocator.o -o two
// RUN: for p in app two; do %run{heap_rate=1:log_path=$p} ./$p && \
// RUN:   %mprof_read --by-function keep $p.*.heap.pb.gz | FileCheck %s && \
// RUN:   %mprof_read --by-function drop $p.*.heap.pb.gz \
// RUN:   | FileCheck %s --check-prefix=DROP || exit 1; done
// CHECK: cum keep: alloc_objects=12 alloc_space=1500 inuse_objects=11 inuse_space=1400
// DROP: cum drop: alloc_objects=5 alloc_space=500 inuse_objects=0 inuse_space=0
#include <stddef.h>

#define FAMILY(p)                                                              \
  void *p##malloc(size_t size);                                                \
  void *p##realloc(void *old, size_t size);                                    \
  int p##posix_memalign(void **out, size_t align, size_t size);                \
  void p##free(void *ptr);
#define FAMILIES(X) X(je_) X(mi_) X(tc_) X(rp) X(sn_)
FAMILIES(FAMILY)

#ifndef PROGRAM
#include <stdlib.h>
#define DEFINE(p)                                                              \
  void *p##malloc(size_t size) { return malloc(size); }                        \
  void *p##realloc(void *old, size_t size) { return realloc(old, size); }      \
  int p##posix_memalign(void **out, size_t align, size_t size) {               \
    return posix_memalign(out, align, size);                                   \
  }                                                                            \
  void p##free(void *ptr) { free(ptr); }
FAMILIES(DEFINE)
#endif

#ifndef ALLOCATOR
void *volatile sink;
__attribute__((noinline)) void keep(void) {
#define KEEP(p)                                                                \
  {                                                                            \
    void *block;                                                               \
    sink = p##malloc(100);                                                     \
    if (p##posix_memalign(&block, 64, 160) != 0)                               \
      return;                                                                  \
    sink = block;                                                              \
  }
  FAMILIES(KEEP)
  sink = je_realloc(je_malloc(100), 100);
}

__attribute__((noinline)) void drop(void) {
#define DROP(p) p##free(sink = p##malloc(100));
  FAMILIES(DROP)
}

int main(void) {
  keep();
  drop();
  return 0;
}
#endif
