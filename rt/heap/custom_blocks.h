// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counted blocks of the program's own allocators. They are found by address
// to be freed one by one, and by arena to be freed all at once. Call all
// functions here with the guard set.

#ifndef MPROF_RT_HEAP_CUSTOM_BLOCKS_H
#define MPROF_RT_HEAP_CUSTOM_BLOCKS_H

#include "sys/base.h"

// Maximum number of blocks at one address, where allocators take their memory
// from one another.
#define MPROF_CUSTOM_LEVELS 8

struct mprof_custom_block {
  uintptr_t addr;
  uintptr_t arena; // the arena's name, 0 for none
  uint32_t bucket; // handle
  bool is_outer;   // the blocks at addr lie within this one and stay counted
};

// Enters a block. Unless it is an outer block, the blocks that are entered at
// its address no longer exist, although their frees were not seen: calls stale
// with the bucket of each. Returns false if there is no memory.
bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t bucket));
// Removes the block at an address, or the outermost one if there are several.
// Returns its bucket, 0 if there is none.
uint32_t mprof_custom_take(uintptr_t addr);
// Removes all blocks of an arena and calls gone with the address and the bucket
// of each. Takes no lock if no arena in the same slot of the table has blocks.
void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t bucket));
// Forgets all blocks. For a forked child.
void mprof_custom_reset(void);

#endif // MPROF_RT_HEAP_CUSTOM_BLOCKS_H
