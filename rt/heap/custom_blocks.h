// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counted blocks of the program's own allocators: by address, so that they
// can be freed one by one, and by arena, so that all of one's can be at once.
// Call everything here with the guard set.

#ifndef MPROF_RT_HEAP_CUSTOM_BLOCKS_H
#define MPROF_RT_HEAP_CUSTOM_BLOCKS_H

#include "sys/base.h"

// So many blocks of allocators that use one another may be at one address.
#define MPROF_CUSTOM_LEVELS 8

struct mprof_custom_block {
  uintptr_t addr;
  uintptr_t arena; // what names it, 0 for none
  uint32_t bucket; // handle
  bool is_outer;   // what is at addr lies within this block, and stays
};

// Enters a block. What was at its address, unless the block is an outer one, is
// gone without its free having been seen: stale is called with the bucket of
// each. False when there is no memory.
bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t bucket));
// Removes the block at an address, the outermost if there are several, and
// returns its bucket, 0 if there is none.
uint32_t mprof_custom_take(uintptr_t addr);
// Removes all blocks of an arena and calls gone with the address and the bucket
// of each. Takes no lock if the arena has none, and no other arena of its slot
// of the table.
void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t bucket));
// In a forked child.
void mprof_custom_reset(void);

#endif // MPROF_RT_HEAP_CUSTOM_BLOCKS_H
