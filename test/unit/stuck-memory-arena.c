// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for stuck threads divides the heaps of a glibc arena into
// blocks, also a heap that the arena no longer allocates from. The arena's
// lists of free chunks are not searched, because the address of a free chunk
// lies at the end of the block before the chunk. The search would therefore
// take this block for reachable.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "stuck-memory.h"

enum { HEADER = 48, STATE = 2200, CHUNK = 64, OTHER_ARENA = 4, SIZE = 65536 };

static uintptr_t kept, top;

// The third word of a heap is its size.
static struct mprof_area make(bool is_left) {
  struct heap h = {.is_before_in_use = true};
  const uintptr_t start = (uintptr_t)map_aligned(SIZE);
  h.start = start;
  h.at = (start + HEADER + STATE + UNIT - 1) & -(uintptr_t)UNIT;
  words(start)[0] = start + HEADER;
  words(start)[2] = SIZE;
  add_chunk(&h, CHUNK, true, OTHER_ARENA);
  kept = add_chunk(&h, CHUNK, true, OTHER_ARENA);
  const size_t rest = start + SIZE - h.at;
  if (is_left) { // the rest of the top: two chunks that are too small
    add_chunk(&h, rest - 2 * UNIT, false, OTHER_ARENA);
    add_chunk(&h, UNIT, true, OTHER_ARENA);
    add_chunk(&h, UNIT, true, OTHER_ARENA);
  } else {
    top = add_chunk(&h, rest, false, OTHER_ARENA) - 2 * WORD;
    words(start + HEADER)[12] = top;
  }
  return (struct mprof_area){
      .start = start, .limit = start + SIZE, .is_unnamed = true};
}

static void check(bool is_left) {
  const struct mprof_area a = make(is_left);
  struct mprof_memory m = memory_of(&a, 1);
  CHECK_EQ(mprof_memory_find_blocks(&m), 0);
  CHECK_EQ(m.blocks_len, 1);
  mprof_memory_mark_roots(&m);
  CHECK(!mprof_memory_is_reached(&m, kept));
  // Outside of the lists, the address of the block's last word does reach it.
  mark_and_follow(&m, kept + CHUNK - 2 * WORD);
  CHECK(mprof_memory_is_reached(&m, kept));
}

int main(void) {
  check(false);
  check(true);
  return 0;
}
