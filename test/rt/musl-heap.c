// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each call of musl's allocation functions is counted once, with the
// requested size. The frees of the blocks are counted, too. On musl realloc to
// size 0 returns a block, which is counted. Blocks that a low heap_rate places
// on page boundaries work like other blocks.
//
// REQUIRES: musl
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for link in '' -static -static-pie; do \
// RUN:   %mprof_clang -fmprof --target=x86_64-linux-musl -O2 -fno-unroll-loops -g1 $link \
// RUN:     -I%src/test/Inputs %s -o app && \
// RUN:   %run_quiet{heap_rate=4096} ./app && \
// RUN:   %run{report=0:heap_rate=1:log_path=m} ./app && \
// RUN:   for f in m.*.heap.pb.gz; do %mprof_read --symbolize $f; done \
// RUN:   | grep '^sample' | sort | FileCheck %s || exit 1; rm m.*; done
//
// CHECK-DAG: sample: 10 10050 0 0 bytes=1005 : with_memalign <- main
// CHECK-DAG: sample: 10 10060 10 10060 bytes=1006 : with_malloc <- main
// CHECK-DAG: sample: 10 10080 0 0 bytes=1008 : with_calloc <- main
// CHECK-DAG: sample: 10 10090 0 0 bytes=1009 : with_reallocarray <- main
// CHECK-DAG: sample: 10 10240 0 0 bytes=1024 : with_aligned_alloc <- main
// CHECK-DAG: sample: 10 10120 0 0 bytes=1012 : with_posix_memalign <- main
// CHECK-DAG: sample: 10 10130 0 0 bytes=1013 : with_valloc <- main
// CHECK-DAG: sample: 10 60 0 0 bytes=6 : with_strdup <- main
// CHECK-DAG: sample: 10 40 0 0 bytes=4 : with_strndup <- main
// CHECK-DAG: sample: 10 240 0 0 bytes=24 : with_wcsdup <- main
// CHECK-DAG: sample: 10 100 0 0 bytes=10 : with_realloc <- main
// CHECK-DAG: sample: 10 20000 0 0 bytes=2000 : with_realloc <- main
// CHECK-DAG: sample: 10 0 10 0 : with_realloc <- main

#define _GNU_SOURCE
#include "check.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char *volatile sink;

// Makes the call ten times at one stack, and uses all bytes of the block.
#define WITH(f, Size, Call, Release)                                           \
  __attribute__((noinline)) static void with_##f(void) {                       \
    for (int i = 0; i < 10; i++) {                                             \
      char *p = NULL;                                                          \
      Call;                                                                    \
      NEED(p != NULL && malloc_usable_size(p) >= (Size));                      \
      memset(p, 0xa5, Size);                                                   \
      sink = p;                                                                \
      Release;                                                                 \
    }                                                                          \
  }
WITH(malloc, 1006, p = malloc(1006), )
WITH(calloc, 1008, p = calloc(4, 252); NEED(p[0] == 0 && p[1007] == 0), free(p))
WITH(reallocarray, 1009, p = reallocarray(p, 1, 1009), free(p))
WITH(aligned_alloc, 1024, p = aligned_alloc(256, 1024);
     NEED((uintptr_t)p % 256 == 0), free(p))
WITH(posix_memalign, 1012, NEED(posix_memalign((void **)&p, 512, 1012) == 0);
     NEED((uintptr_t)p % 512 == 0), free(p))
WITH(memalign, 1005, p = memalign(64, 1005);
     NEED((uintptr_t)p % 64 == 0), free(p))
WITH(valloc, 1013, p = valloc(1013); NEED((uintptr_t)p % 4096 == 0), free(p))
WITH(strdup, 6, p = strdup("hello"); NEED(strcmp(p, "hello") == 0), free(p))
WITH(strndup, 4, p = strndup("hello", 3); NEED(strcmp(p, "hel") == 0), free(p))
WITH(wcsdup, 24, p = (char *)wcsdup(L"hello");
     NEED(wcscmp((wchar_t *)p, L"hello") == 0), free(p))

__attribute__((noinline)) static void with_realloc(void) {
  for (int i = 0; i < 10; i++) {
    char *p = realloc(NULL, 10);
    NEED(p != NULL);
    memcpy(p, "123456789", 10);
    p = realloc(p, 2000);
    NEED(p != NULL && strcmp(p, "123456789") == 0);
    sink = p;
    sink = p = realloc(p, 0);
    NEED(p != NULL);
  }
}

int main(void) {
  with_malloc(), with_calloc(), with_reallocarray(), with_aligned_alloc();
  with_posix_memalign(), with_memalign(), with_valloc(), with_strdup();
  with_strndup(), with_wcsdup(), with_realloc();
  return 0;
}
