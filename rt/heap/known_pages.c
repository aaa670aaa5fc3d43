// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the pages with placed blocks; see known_pages.h.

#include "heap/known_pages.h"

_Alignas(64) _Atomic uint64_t mprof_page_marks[MPROF_MARK_WORDS];

void mprof_page_set_known(const void *p) {
  uint64_t bit;
  _Atomic uint64_t *word = mprof_page_mark_of(p, &bit);
  // A block from the cache of placed blocks has its mark, so the atomic
  // operation is rare.
  if ((atomic_load_explicit(word, memory_order_relaxed) & bit) == 0)
    atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}
