// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An allocator that is part of the program. With FEW_FUNCTIONS it has only
// malloc, calloc, realloc and free, as many such allocators do.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Freed blocks are kept by class; blocks of class k have 2^k bytes.
struct block {
  uint64_t check; // a foreign block has another value here
  uint32_t lg;
  uint32_t before; // offset of this header in the block
};
static char heap[256 << 20] __attribute__((aligned(4096)));
static char *top = heap;
static void *freed[40];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const uint64_t check = 0x6d7920626c6f636b;

int own_heap_has(const void *p) {
  const struct block *b = (const struct block *)p - 1;
  return (const char *)p > heap && (const char *)p < heap + sizeof(heap) &&
         b->check == check;
}

static void *take(size_t align, size_t size) {
  if (size > sizeof(heap) / 2 || align > sizeof(heap) / 2)
    return NULL;
  if (align < 16)
    align = 16;
  uint32_t lg = 5;
  while (((size_t)1 << lg) < size + align + sizeof(struct block))
    lg++;
  pthread_mutex_lock(&mutex);
  char *start = (char *)freed[lg];
  if (start) {
    memcpy(&freed[lg], start, sizeof(void *));
  } else if ((size_t)(heap + sizeof(heap) - top) >= (size_t)1 << lg) {
    start = top;
    top += (size_t)1 << lg;
  }
  pthread_mutex_unlock(&mutex);
  if (!start)
    return NULL;
  uintptr_t at = ((uintptr_t)start + sizeof(struct block) + align - 1) & -align;
  struct block *b = (struct block *)at - 1;
  *b = (struct block){check, lg, (uint32_t)((char *)b - start)};
  return (void *)at;
}

static size_t usable(const void *p) {
  const struct block *b = (const struct block *)p - 1;
  return ((size_t)1 << b->lg) - b->before - sizeof(*b);
}

void *malloc(size_t size) { return take(16, size); }

void free(void *p) {
  if (!p)
    return;
  struct block *b = (struct block *)p - 1;
  if (!own_heap_has(p))
    __builtin_trap();
  uint32_t lg = b->lg;
  char *start = (char *)b - b->before;
  b->check = 0;
  pthread_mutex_lock(&mutex);
  memcpy(start, &freed[lg], sizeof(void *));
  freed[lg] = start;
  pthread_mutex_unlock(&mutex);
}

void *calloc(size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    return NULL;
  void *p = take(16, size);
  return p ? memset(p, 0, size) : NULL;
}

void *realloc(void *old, size_t size) {
  void *p = take(16, size);
  if (old && p) {
    if (!own_heap_has(old))
      __builtin_trap();
    memcpy(p, old, usable(old) < size ? usable(old) : size);
    free(old);
  }
  return p;
}

#ifndef FEW_FUNCTIONS
void *reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  return __builtin_mul_overflow(count, each, &size) ? NULL : realloc(old, size);
}
int posix_memalign(void **out, size_t align, size_t size) {
  *out = take(align, size);
  return *out ? 0 : ENOMEM;
}
void *aligned_alloc(size_t align, size_t size) { return take(align, size); }
void *memalign(size_t align, size_t size) { return take(align, size); }
void *valloc(size_t size) { return take(4096, size); }
void *pvalloc(size_t size) { return take(4096, (size + 4095) & -4096u); }
size_t malloc_usable_size(void *p) { return p ? usable(p) : 0; }
#endif
