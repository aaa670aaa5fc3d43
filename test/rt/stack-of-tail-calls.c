// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack of an allocation contains the function that makes it also
// if the call is the last thing that the function does, and the function needs
// no frame on the stack. The stacks of the heap profile and of the allocation
// log are the same as with frame pointers and without optimization. The stack
// pointer of these functions is no multiple of 16, which libc's functions rely
// on.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in "-O2 -fmprof-unwind=frames" "-O2 -fmprof-unwind=tables" \
// RUN:     "-O2 -static" "-O2 -flto -fuse-ld=lld" -O0; do \
// RUN:   %mprof_clang -fmprof -g1 $flags -I%src/test/Inputs %s -o app || exit 1; \
// RUN:   rm -f out.* log; \
// RUN:   %run{heap_rate=1:alloc_log=log:log_path=out} ./app || exit 1; \
// RUN:   go tool pprof -sample_index=alloc_space -traces app out.*.heap.pb.gz | \
// RUN:     awk '/^---/ { print s; s = ""; next } { s = s " " $NF } \
// RUN:       END { print s }' | grep by_ | sort > traces; \
// RUN:   FileCheck %s < traces || exit 1; \
// RUN:   %mprof log --print log | grep -v -e ^trace -e ^thread >> traces; \
// RUN:   [ "$(grep -x -c 'by_[a-z_]*' traces)" = 39 ] || exit 1; \
// RUN:   if [ ! -f first ]; then cp traces first; fi; \
// RUN:   diff first traces || exit 1; \
// RUN: done
//
// CHECK-DAG: by_malloc calls main
// CHECK-DAG: by_calloc calls main
// CHECK-DAG: by_realloc calls main
// CHECK-DAG: by_reallocarray calls main
// CHECK-DAG: by_aligned_alloc calls main
// CHECK-DAG: by_memalign calls main
// CHECK-DAG: by_posix_memalign calls main
// CHECK-DAG: by_valloc calls main
// CHECK-DAG: by_pvalloc calls main
// CHECK-DAG: by_strdup calls main
// CHECK-DAG: by_strndup calls main

#include "check.h"

#include <malloc.h>

#define NOINLINE __attribute__((noinline))

NOINLINE void *by_malloc(size_t n) { return malloc(n); }
NOINLINE void *by_calloc(size_t n) { return calloc(3, n); }
NOINLINE void *by_realloc(void *p, size_t n) { return realloc(p, n); }
NOINLINE void *by_reallocarray(void *p, size_t n) {
  return reallocarray(p, 2, n);
}
NOINLINE void *by_aligned_alloc(size_t n) { return aligned_alloc(64, n); }
NOINLINE void *by_memalign(size_t n) { return memalign(128, n); }
NOINLINE int by_posix_memalign(void **out, size_t n) {
  return posix_memalign(out, 64, n);
}
NOINLINE void *by_valloc(size_t n) { return valloc(n); }
NOINLINE void *by_pvalloc(size_t n) { return pvalloc(n); }
NOINLINE char *by_strdup(const char *s) { return strdup(s); }
NOINLINE char *by_strndup(const char *s) { return strndup(s, 4); }

static void *volatile kept[16];

NOINLINE void calls(void) {
  void *out = NULL;
  kept[0] = by_malloc(100);
  kept[1] = by_calloc(10);
  kept[2] = by_realloc(NULL, 100);
  kept[2] = by_realloc(kept[2], 100000);
  kept[3] = by_reallocarray(NULL, 10);
  kept[4] = by_aligned_alloc(64);
  kept[5] = by_memalign(100);
  CHECK_EQ(by_posix_memalign(&out, 100), 0);
  kept[6] = out;
  kept[7] = by_valloc(100);
  kept[8] = by_pvalloc(100);
  kept[9] = by_strdup("text");
  kept[10] = by_strndup("text of some length");
  CHECK(strcmp(kept[9], kept[10]) == 0);
}

int main(void) {
#pragma clang loop unroll(disable)
  for (int i = 0; i < 3; i++)
    calls();
  CHECK_EQ(malloc_usable_size(kept[2]) >= 100000, 1);
  return 0;
}
