// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the pages at whose start the runtime has ever placed a counted block
// (page_placement.h). One in 256 blocks that are not counted lies on a page
// boundary by chance. The free of such a block calls the runtime, because the
// call site tests only the block's address. If the page has no mark, the block
// is not counted, and the runtime does not search the live map, which would be
// several cache lines.

#ifndef MPROF_RT_HEAP_KNOWN_PAGES_H
#define MPROF_RT_HEAP_KNOWN_PAGES_H

#include "sys/base.h"

// Each page has a mark of one bit, which it shares with other pages. If the
// mark is set for another page, the live map is searched in vain. A mark is
// never removed, because a removal would be an atomic operation for each free
// of a counted block. If 10,000 pages have had a counted block, one in 13 of
// the marks is set. A program with many more such pages loses what the marks
// save.
//
// The marks of 512 neighbouring pages are in one cache line, so that a thread
// uses few cache lines.
#define MPROF_LG_MARKS_A_LINE 9u
#define MPROF_LG_MARK_LINES 8u
#define MPROF_MARK_WORDS                                                       \
  (1u << (MPROF_LG_MARK_LINES + MPROF_LG_MARKS_A_LINE - 6)) // 16 KiB
extern MPROF_HIDDEN _Atomic uint64_t mprof_page_marks[MPROF_MARK_WORDS];

// Returns the word with the mark of p's page, and stores its bit in *bit.
static inline _Atomic uint64_t *mprof_page_mark_of(const void *p,
                                                   uint64_t *bit) {
  const uintptr_t page = (uintptr_t)p / MPROF_PAGE;
  const uint32_t hash = (uint32_t)(page >> MPROF_LG_MARKS_A_LINE) * 2654435761u;
  const uint32_t line = hash >> (32 - MPROF_LG_MARK_LINES);
  const uint32_t word = page / 64 % (1u << (MPROF_LG_MARKS_A_LINE - 6));
  *bit = (uint64_t)1 << page % 64;
  return &mprof_page_marks[(line << (MPROF_LG_MARKS_A_LINE - 6)) + word];
}

// Returns false if the runtime has never placed a counted block at the start of
// p's page. p may be any address. Safe in signal handlers.
static inline bool mprof_page_is_known(const void *p) {
  uint64_t bit;
  _Atomic uint64_t *word = mprof_page_mark_of(p, &bit);
  return (atomic_load_explicit(word, memory_order_relaxed) & bit) != 0;
}
// Marks p's page. Call this before the program gets the block at p. If another
// thread frees the block, the way by which it got p makes the mark visible.
void mprof_page_set_known(const void *p);

#endif // MPROF_RT_HEAP_KNOWN_PAGES_H
