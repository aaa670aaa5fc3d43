// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the blocks of glibc's malloc in a copy of the process, by walking
// malloc's heaps in place. Finds the block that contains an address. Call all
// functions only in a helper process; see stuck_memory.h.

#ifndef MPROF_RT_STUCK_STUCK_BLOCKS_H
#define MPROF_RT_STUCK_STUCK_BLOCKS_H

#include "stuck/stuck_memory.h"

// Adds a single block that malloc did not allocate.
void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit);
// Finds the blocks of malloc, and removes malloc's heaps from the areas. Call
// this after all calls of mprof_memory_cut and mprof_memory_add_block. Returns
// 0 or -ENOMEM.
int mprof_memory_find_blocks(struct mprof_memory *m);

// A chunk is a block of malloc with the two words before it. The second word is
// its size and three flags. The addresses of chunks are multiples of
// MPROF_CHUNK_UNIT.
enum { MPROF_CHUNK_UNIT = 16, MPROF_CHUNK_FLAGS = 7 };
static inline uintptr_t mprof_chunk_size(uintptr_t chunk) {
  return mprof_memory_word_at(chunk + sizeof(uintptr_t)) &
         ~(uintptr_t)MPROF_CHUNK_FLAGS;
}

// Returns the heap or the single block that contains addr, or NULL. Call this
// after mprof_memory_find_blocks.
struct mprof_blocks *mprof_memory_blocks_at(const struct mprof_memory *m,
                                            uintptr_t addr);
#define MPROF_NO_CHUNK SIZE_MAX
// Returns the index (in units of MPROF_CHUNK_UNIT) of the chunk in use of heap
// b that contains addr. Returns MPROF_NO_CHUNK if there is no such chunk. The
// last word of a chunk in use is the first word of the next chunk. Adds the
// cost of the call to *steps.
size_t mprof_memory_chunk_of(const struct mprof_blocks *b, uintptr_t addr,
                             size_t *steps);

// Bit i of the fields `starts` and `marks` of struct mprof_blocks.
static inline bool mprof_bit_get(const uint64_t *bits, size_t i) {
  return bits[i / 64] >> (i % 64) & 1;
}
static inline void mprof_bit_set(uint64_t *bits, size_t i) {
  bits[i / 64] |= UINT64_C(1) << (i % 64);
}

#endif // MPROF_RT_STUCK_STUCK_BLOCKS_H
