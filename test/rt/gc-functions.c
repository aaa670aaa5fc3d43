// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each allocation function of libgc is counted with the requested size,
// at the caller's frame. Reachable objects stay in use after collections, and
// other objects do not. Failed requests are not counted. All this holds for
// dynamic and static linking and for each linker.
//
// REQUIRES: libgc
// RUN: %mprof_clang -fmprof -O1 -c -I%src/test/Inputs %s -o %t.o
// RUN: export MPROF_OPTIONS=heap_rate=1:report=0:profile=0
// RUN: %mprof_clang -fmprof %t.o -o %t -lgc && %t
// RUN: %mprof_clang -fmprof %t.o -o %t -fuse-ld=lld -lgc && %t
// RUN: %mprof_clang -fmprof %t.o -o %t -fuse-ld=gold -lgc && %t
// RUN: %mprof_clang -fmprof -static %t.o -o %t -lgc && %t

#include "gc.h"

#include <gc/gc_typed.h>

static void **kept;
enum { KINDS = 16 };
static struct {
  size_t size;
  int is_explicit; // only GC_free ends its life
} made[KINDS];
static int kinds;

static void keep(void *p, size_t size, int is_explicit) {
  CHECK(p != NULL);
  kept[kinds] = p;
  made[kinds].size = size;
  made[kinds++].is_explicit = is_explicit;
}

__attribute__((noinline)) static void make_all(void) {
  GC_word bits[1] = {1};
  GC_descr d = GC_make_descriptor(bits, 1);
  void *aligned;
  keep(GC_MALLOC(1001), 1001, 0);
  keep(GC_MALLOC_ATOMIC(1002), 1002, 0);
  keep(GC_MALLOC_UNCOLLECTABLE(1003), 1003, 1);
  keep(GC_MALLOC_ATOMIC_UNCOLLECTABLE(1004), 1004, 1);
  keep(GC_MALLOC_IGNORE_OFF_PAGE(100005), 100005, 0);
  keep(GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(100006), 100006, 0);
  keep(GC_MALLOC_EXPLICITLY_TYPED(1007, d), 1007, 0);
  keep(GC_CALLOC_EXPLICITLY_TYPED(7, 152, d), 7 * 152, 0);
  keep(GC_memalign(512, 1009), 1009, 0);
  CHECK(GC_posix_memalign(&aligned, 256, 1010) == 0);
  keep(aligned, 1010, 0);
  keep(GC_REALLOC(NULL, 1011), 1011, 0);
  keep(GC_STRDUP("0123456789"), 11, 0);
  keep(GC_STRNDUP("0123456789", 6), 7, 0);
}

static void expect(size_t size, long long allocs, long long frees) {
  struct gc_counts c = counts_of(size);
  if (c.allocs == allocs && c.frees == frees)
    return;
  fprintf(stderr, "size %zu: %lld, %lld, not %lld, %lld\n", size, c.allocs,
          c.frees, allocs, frees);
  exit(1);
}

__attribute__((mprof_ignore, noinline)) static void ignored(void) {
  GC_MALLOC(2001);
  GC_STRDUP("nobody counts this one");
}

int main(void) {
  start();
  GC_set_warn_proc(GC_ignore_warn_proc);
  kept = GC_MALLOC_UNCOLLECTABLE(KINDS * sizeof(void *));
  make_all();
  clear_stack();
  ignored();
  void *volatile none = GC_MALLOC((size_t)1 << 46);
  CHECK(none == NULL);
  collect(), collect();
  for (int i = 0; i < kinds; i++)
    expect(made[i].size, 1, 0);
  expect(2001, 0, 0);
  expect(23, 0, 0);
  expect((size_t)1 << 46, 0, 0);

  // One object may be kept by a word that looks like its address.
  int alive = 0;
  for (int i = 0; i < kinds; i++)
    if (made[i].is_explicit)
      GC_FREE(kept[i]);
  memset(kept, 0, KINDS * sizeof(void *));
  clear_stack();
  collect(), collect();
  for (int i = 0; i < kinds; i++) {
    struct gc_counts c = counts_of(made[i].size);
    CHECK(c.allocs == 1 && c.frees <= 1);
    alive += c.frees == 0;
  }
  CHECK(alive <= 1);
  return 0;
}
