// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes heaps by hand in glibc's format: chunk after chunk, each preceded by
// its size and by whether the chunk before it is in use. The last chunk is
// free.

#ifndef MPROF_TEST_UNIT_STUCK_MEMORY_H
#define MPROF_TEST_UNIT_STUCK_MEMORY_H

#include "core.h"

#include "stuck/stuck_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORD = 8, UNIT = 16, PAGE = 4096, AREAS = 16 };

// Maps zeros at a multiple of 64 MiB.
static inline char *map_aligned(size_t size) {
  const size_t alignment = (size_t)64 << 20;
  char *p = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(p != MAP_FAILED);
  return p + (alignment - (uintptr_t)p % alignment) % alignment;
}

static inline uintptr_t *words(uintptr_t at) { return (uintptr_t *)at; }

struct heap {
  uintptr_t start, at; // at: address of the next chunk
  bool is_before_in_use;
};

// Adds a chunk of size bytes and returns the address that malloc would return.
static inline uintptr_t add_chunk(struct heap *h, size_t size, bool is_in_use,
                                  uintptr_t flags) {
  const uintptr_t chunk = h->at;
  words(chunk)[1] = size | h->is_before_in_use | flags;
  h->is_before_in_use = is_in_use;
  h->at += size;
  return chunk + 2 * WORD;
}

// Returns a description of memory that consists of these areas only.
static inline struct mprof_memory memory_of(const struct mprof_area *areas,
                                            size_t n) {
  static struct mprof_area v[AREAS];
  static struct mprof_blocks blocks[AREAS];
  struct mprof_memory m = {.areas = v,
                           .areas_len = n,
                           .areas_cap = AREAS,
                           .blocks = blocks,
                           .blocks_cap = AREAS,
                           .low = UINTPTR_MAX};
  memcpy(v, areas, n * sizeof(*areas));
  m.pagemap = open("/proc/self/pagemap", O_RDONLY);
  CHECK(m.pagemap >= 0);
  return m;
}

static inline struct mprof_memory memory_of_main_heap(const struct heap *h) {
  const struct mprof_area a = {
      .start = h->start, .limit = h->at, .is_heap = true};
  return memory_of(&a, 1);
}

static inline void mark_and_follow(struct mprof_memory *m, uintptr_t addr) {
  mprof_memory_mark(m, addr);
  mprof_memory_follow(m);
}

#endif // MPROF_TEST_UNIT_STUCK_MEMORY_H
