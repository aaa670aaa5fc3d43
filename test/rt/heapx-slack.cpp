// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 the heapx profile counts the slack of blocks of
// malloc and operator new, for all blocks and for those in use. The slack of a
// block is malloc_usable_size minus the requested size. Blocks of a custom
// allocator have no slack.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: export MPROF_OPTIONS=heap_rate=1:heapx=1:log_path=p:report=0
// RUN: for o in "-O2 -fno-mprof-intercept" "-O2 -fmprof-intercept"; do \
// RUN:   %mprof_clangxx -fmprof $o %s -o app && ./app > truth && \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth && \
// RUN:   rm p.*.heap*.pb.gz || exit 1; done

#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>

enum { N = 20 };
static struct {
  size_t size, ever, in_use;
} truth[4000];
static size_t sizes;

static void came(void *p, size_t size) {
  size_t i = 0;
  while (i < sizes && truth[i].size != size)
    i++;
  if (i == sizes)
    truth[sizes++].size = size;
  truth[i].ever += malloc_usable_size(p) - size;
  truth[i].in_use += malloc_usable_size(p) - size;
}

static void goes(void *p, size_t size) {
  for (size_t i = 0; i < sizes; i++)
    if (truth[i].size == size)
      truth[i].in_use -= malloc_usable_size(p) - size;
}

__attribute__((mprof_alloc(1), noinline)) static void *pool_get(size_t size) {
  static char pool[100000];
  static size_t used;
  return pool + (used += size + 48);
}

int main() {
  for (size_t size = 0; size < 3000; size += 1 + size / 8) {
    void *c[N], *cxx[N];
    for (int i = 0; i < N; i++) {
      c[i] = i % 3 ? malloc(size) : calloc(1, size);
      came(c[i], size);
      cxx[i] = operator new(size + 5000);
      came(cxx[i], size + 5000);
    }
    for (int i = 0; i < N / 2; i++) {
      goes(c[i], size);
      free(c[i]);
      goes(cxx[i], size + 5000);
      operator delete(cxx[i]);
    }
    void *old = c[N - 1];
    goes(old, size);
    if ((old = realloc(old, size + 10000)) == nullptr)
      return 1;
    came(old, size + 10000);
  }
  for (int i = 0; i < N; i++)
    if (pool_get(1001) == nullptr)
      return 1;
  for (size_t i = 0; i < sizes; i++)
    printf("%zu alloc_slack_space=%zu slack_space=%zu\n", truth[i].size,
           truth[i].ever, truth[i].in_use);
  printf("1001 alloc_slack_space=0 slack_space=0\n");
  return 0;
}
