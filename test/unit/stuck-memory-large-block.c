// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for stuck threads takes fewer steps for a large block than
// the block has words. This holds even if the block is full of addresses of its
// own words.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "stuck-memory.h"

static size_t steps_of(size_t size) {
  struct heap h = {.is_before_in_use = true};
  h.start = h.at = (uintptr_t)map_aligned(size + PAGE);
  const uintptr_t block = add_chunk(&h, size, true, 0);
  const size_t n = (size - WORD) / WORD;
  add_chunk(&h, PAGE, false, 0);
  for (size_t i = 0; i < n; i++)
    words(block)[i] = block + (i * 2654435761u % n) * WORD;
  struct mprof_memory m = memory_of_main_heap(&h);
  CHECK_EQ(mprof_memory_find_blocks(&m), 0);
  mark_and_follow(&m, block + size / 2);
  CHECK(mprof_memory_is_reached(&m, block));
  return m.steps;
}

int main(void) {
  // Fewer steps than words.
  for (size_t size = 1 << 16; size <= 1 << 24; size *= 4)
    CHECK(steps_of(size) < size / WORD);
  return 0;
}
