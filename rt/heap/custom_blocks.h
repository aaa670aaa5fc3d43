// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the counted blocks of the program's own allocators. If the
// program frees a single block, the runtime finds it in the table by its
// address. If the program frees a whole arena, the runtime finds the arena's
// blocks by the address that identifies the arena. Call all functions of this
// file with the recursion guard set.

#ifndef MPROF_RT_HEAP_CUSTOM_BLOCKS_H
#define MPROF_RT_HEAP_CUSTOM_BLOCKS_H

#include "sys/base.h"

// Maximum number of nested blocks at one address. Blocks are nested if one
// allocator of the program takes its memory from another.
#define MPROF_CUSTOM_LEVELS 8

struct mprof_custom_block {
  uintptr_t addr;
  uintptr_t arena; // the address that identifies the arena; 0: no arena
  uint32_t cell;   // handle
  // This block contains the blocks that are already at addr. Those stay
  // counted.
  bool is_outer;
};

// Inserts the block b. If b->is_outer is false and the table has other blocks
// at the same address, the program must have freed those blocks unseen by the
// runtime. In this case, removes them and calls `stale` with the cell of
// each. Returns false if there is no memory.
bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t cell));
// Removes the block at addr and returns its cell, or returns 0 if there is no
// block. If there are nested blocks at addr, removes the outermost block.
uint32_t mprof_custom_take(uintptr_t addr);
// Removes all blocks of an arena and calls `gone` with the address and the
// cell of each block. If the arena's slot of the hash table has no arena with
// counted blocks, takes no lock.
void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t cell));
// Forgets all blocks. Call this in a forked child.
void mprof_custom_reset(void);

#endif // MPROF_RT_HEAP_CUSTOM_BLOCKS_H
