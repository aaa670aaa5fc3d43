// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in the search for stuck threads, a block in use is reached by the
// address of any of its bytes, with or without a tag. No other address reaches
// the block. The last word of the block is in the head of the next malloc
// chunk. A reached block reaches the addresses that it contains. Free memory
// and memory beyond the last chunk count as reached.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "stuck-memory.h"

enum { SMALL = 32, LARGE = 4096 };

static struct heap h;
static uintptr_t first, second, freed, large, last, top;

static struct mprof_memory make(void) {
  h.start = h.at = (uintptr_t)map_aligned(1 << 20);
  h.is_before_in_use = true;
  first = add_chunk(&h, SMALL, true, 0);
  second = add_chunk(&h, SMALL, true, 0);
  freed = add_chunk(&h, SMALL, false, 0);
  large = add_chunk(&h, LARGE, true, 0);
  last = add_chunk(&h, SMALL, true, 0);
  top = add_chunk(&h, LARGE, false, 0);
  words(first)[0] = last;
  words(freed)[0] = second;
  struct mprof_memory m = memory_of_main_heap(&h);
  CHECK_EQ(mprof_memory_find_blocks(&m), 0);
  CHECK_EQ(m.blocks_len, 1);
  return m;
}

// Returns whether the address reaches the block large and no other.
static bool reaches_large(uintptr_t addr) {
  struct mprof_memory m = make();
  // This heap was made anew. The block has the same offset in it.
  mark_and_follow(&m, large + addr);
  CHECK(!mprof_memory_is_reached(&m, first));
  CHECK(!mprof_memory_is_reached(&m, second));
  CHECK(!mprof_memory_is_reached(&m, last) || addr >= LARGE - WORD);
  return mprof_memory_is_reached(&m, large);
}

int main(void) {
  CHECK(reaches_large(0));
  CHECK(reaches_large(1));
  CHECK(reaches_large(LARGE / 2 + 3));
  CHECK(reaches_large(LARGE - WORD - 1));
  CHECK(reaches_large((uintptr_t)0x1234 << 48));
  CHECK(!reaches_large(LARGE - WORD));
  CHECK(!reaches_large((uintptr_t)-WORD - 1));

  struct mprof_memory m = make();
  mark_and_follow(&m, h.start);
  mark_and_follow(&m, h.start + 3); // in the first chunk's head
  mark_and_follow(&m, freed);
  mark_and_follow(&m, top + 100);
  mark_and_follow(&m, top + LARGE);
  CHECK(!mprof_memory_is_reached(&m, first));
  CHECK(!mprof_memory_is_reached(&m, second));
  CHECK(mprof_memory_is_reached(&m, freed));
  CHECK(mprof_memory_is_reached(&m, top));
  mark_and_follow(&m, first + SMALL - WORD - 1);
  CHECK(mprof_memory_is_reached(&m, first));
  CHECK(mprof_memory_is_reached(&m, last));
  CHECK(!mprof_memory_is_reached(&m, second));
  CHECK(!mprof_memory_is_reached(&m, large));
  return 0;
}
