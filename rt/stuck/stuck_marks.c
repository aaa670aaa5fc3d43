// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the blocks to which words of the searched memory point; see
// stuck_marks.h.

#include "stuck/stuck_marks.h"

#include "stuck/stuck_blocks.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"

#include <sys/mman.h>

enum { WORD = sizeof(uintptr_t) };

// --- blocks ---

static void push(struct mprof_memory *m, uintptr_t start, uintptr_t limit) {
  if (m->todo_len < m->todo_cap)
    m->todo[m->todo_len++] = (struct mprof_reached){start, limit};
}

static void mark_canonical(struct mprof_memory *m, uintptr_t addr) {
  struct mprof_blocks *b = mprof_memory_blocks_at(m, addr);
  if (!b)
    return;
  if (!b->starts) {
    if (!b->is_marked)
      push(m, b->start, b->limit);
    b->is_marked = true;
    return;
  }
  struct mprof_reached *near = &m->marked[addr >> 16 & 63];
  if (addr >= near->start && addr < near->limit)
    return;
  const size_t i = mprof_memory_chunk_of(b, addr, &m->steps);
  if (i == MPROF_NO_CHUNK)
    return;
  const uintptr_t chunk = b->start + i * MPROF_CHUNK_UNIT;
  const uintptr_t limit = chunk + mprof_chunk_size(chunk) + WORD;
  *near = (struct mprof_reached){chunk + 2 * WORD, limit};
  if (mprof_bit_get(b->marks, i))
    return;
  mprof_bit_set(b->marks, i);
  push(m, chunk + 2 * WORD, limit);
}

// An address has at most this number of bits. The search ignores the upper bits
// of a word, because some programs store a tag in the upper bits of a pointer.
#define ADDRESS_BITS 47

void mprof_memory_mark(struct mprof_memory *m, uintptr_t word) {
  mark_canonical(m, word & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr) {
  const struct mprof_blocks *b = mprof_memory_blocks_at(m, addr);
  if (!b)
    return true;
  if (!b->starts)
    return b->is_marked;
  const size_t i = mprof_memory_chunk_of(b, addr, &m->steps);
  return i == MPROF_NO_CHUNK || mprof_bit_get(b->marks, i);
}

// --- searching words ---

static void mark_words(struct mprof_memory *m, uintptr_t start,
                       uintptr_t limit) {
  for (uintptr_t p = start; p + WORD <= limit; p += WORD)
    mprof_memory_mark(m, mprof_memory_word_at(p));
}

// Marks the blocks that words of a shared area point to. Skips pages that are
// not present, because a read of such a page would allocate memory.
static void mark_shared(struct mprof_memory *m, const struct mprof_area *a) {
  enum { PAGES = 512 };
  unsigned char v[PAGES];
  for (uintptr_t at = a->start; at < a->limit; at += PAGES * MPROF_PAGE) {
    size_t n = (a->limit - at) / MPROF_PAGE;
    if (n > PAGES)
      n = PAGES;
    if (mprof_sys_mincore(at, n * MPROF_PAGE, v) != 0)
      continue;
    for (size_t i = 0; i < n; i++)
      if (v[i] & 1)
        mark_words(m, at + i * MPROF_PAGE, at + (i + 1) * MPROF_PAGE);
  }
}

void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit) {
  enum { SMALL = 16 * MPROF_PAGE };
  start = (start + WORD - 1) & -(uintptr_t)WORD;
  if (limit - start <= SMALL)
    mark_words(m, start, limit);
  else
    mprof_memory_each_page(m, start, limit, mark_words);
}

// Makes an unreadable area readable, so that the area can be searched. The area
// is searched because the program may make it readable again and use its
// addresses.
static bool show(const struct mprof_area *a) {
  return mprof_sys_mprotect(a->start, a->limit - a->start, PROT_READ) == 0;
}

void mprof_memory_mark_roots(struct mprof_memory *m) {
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area *a = &m->areas[i];
    if (a->is_hidden && a->start < a->limit && !show(a))
      continue;
    if (a->is_shared)
      mark_shared(m, a);
    else if (a->start < a->limit)
      mprof_memory_each_page(m, a->start, a->limit, mark_words);
    mprof_memory_follow(m);
  }
}

void mprof_memory_follow(struct mprof_memory *m) {
  while (m->todo_len > 0) {
    const struct mprof_reached r = m->todo[--m->todo_len];
    mprof_memory_mark_range(m, r.start, r.limit);
  }
}
