// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the pages at whose begin a block was ever counted; see known_pages.h.

#include "heap/known_pages.h"

_Alignas(64) _Atomic uint64_t mprof_page_marks[MPROF_MARK_WORDS];

void mprof_page_set_known(const void *p) {
  uint64_t bit;
  _Atomic uint64_t *word = mprof_page_mark_of(p, &bit);
  // Most blocks of the cache have their mark, so the atomic operation is rare.
  if ((atomic_load_explicit(word, memory_order_relaxed) & bit) == 0)
    atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}
