// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared library to preload, below the profiler's interceptors. It counts the
// calls of the allocator: the truth that profiles are compared with. For each
// size it counts the allocated and the freed blocks; frees of blocks whose
// allocation it did not see are not counted. See ground_truth.h.

#include "ground_truth.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { SIZES = 1 << 16, BLOCKS = 1 << 22 };

static atomic_flag lock = ATOMIC_FLAG_INIT; // guards all variables below
static int is_on;
static struct truth sizes[SIZES]; // open addressing by size + 1
static struct {
  void *ptr; // NULL: unused; (void *)1: was used
  size_t size;
} blocks[BLOCKS];

static void acquire(void) {
  while (atomic_flag_test_and_set(&lock))
    ;
}

static struct truth *of_size(size_t size) {
  size_t i = size * 0x9e3779b97f4a7c15u >> 48;
  while (sizes[i].allocs != 0 && sizes[i].size != size)
    i = (i + 1) % SIZES;
  sizes[i].size = size;
  return &sizes[i];
}

static size_t home_of(const void *p) {
  return (uintptr_t)p * 0x9e3779b97f4a7c15u >> 42;
}

static void *came(void *p, size_t size) {
  if (!p)
    return p;
  acquire();
  if (is_on) {
    size_t i = home_of(p);
    while ((uintptr_t)blocks[i].ptr > 1)
      i = (i + 1) % BLOCKS;
    blocks[i].ptr = p;
    blocks[i].size = size;
    of_size(size)->allocs++;
  }
  atomic_flag_clear(&lock);
  return p;
}

// Forgets a block before the allocator may hand it out again. Returns whether
// it was known.
static int takes(void *p, size_t *size) {
  int found = 0;
  acquire();
  for (size_t i = home_of(p); p && blocks[i].ptr; i = (i + 1) % BLOCKS)
    if (blocks[i].ptr == p) {
      *size = blocks[i].size;
      blocks[i].ptr = (void *)1;
      found = 1;
      break;
    }
  atomic_flag_clear(&lock);
  return found;
}

static void went(int was_known, size_t size) {
  acquire();
  if (was_known)
    of_size(size)->frees++;
  atomic_flag_clear(&lock);
}

void *malloc(size_t n) { return came(__libc_malloc(n), n); }
void *calloc(size_t n, size_t each) {
  return came(__libc_calloc(n, each), n * each);
}
void *memalign(size_t align, size_t n) {
  return came(__libc_memalign(align, n), n);
}
void *aligned_alloc(size_t align, size_t n) { return memalign(align, n); }
int posix_memalign(void **out, size_t align, size_t n) {
  void *p = memalign(align, n);
  if (!p)
    return ENOMEM;
  *out = p;
  return 0;
}
void *valloc(size_t n) { return memalign(4096, n); }
void *pvalloc(size_t n) {
  return came(__libc_memalign(4096, (n + 4095) & ~(size_t)4095), n);
}
void free(void *p) {
  size_t size = 0;
  went(takes(p, &size), size);
  __libc_free(p);
}
void *realloc(void *old, size_t n) {
  size_t size = 0;
  int was_known = takes(old, &size);
  void *p = __libc_realloc(old, n);
  went(was_known, size);
  return came(p, n);
}
void *reallocarray(void *old, size_t n, size_t each) {
  return realloc(old, n * each);
}

void truth_start(void) {
  acquire();
  is_on = 1;
  atomic_flag_clear(&lock);
}

void truth_stop(void) {
  acquire();
  is_on = 0;
  atomic_flag_clear(&lock);
}

struct truth truth_of(size_t size) {
  struct truth t = *of_size(size);
  t.size = size;
  return t;
}

const struct truth *truth_next(const struct truth *t) {
  for (t = t ? t + 1 : sizes; t < sizes + SIZES; t++)
    if (t->allocs != 0)
      return t;
  return NULL;
}
