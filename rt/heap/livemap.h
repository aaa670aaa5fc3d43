// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the address of each live counted block to the block's cell: the counters
// of the thread that has counted the block (bucket.h). (Go: setprofilebucket,
// the special of a span)
//
// Heap blocks are in two radix trees of 32-bit handles. One tree has a slot for
// each 4 KiB page and contains the blocks on page boundaries, so all sampled
// blocks that the runtime has placed there (page_placement.c). It is small,
// also if the heap is large. The other tree contains the other blocks. The
// trees need no lock, because only one thread at a time owns a block. If every
// block is counted (heap_rate=1), the second tree takes 8 bytes for every 256
// bytes of the heap, and 64 bytes more if these contain several blocks.
//
// Blocks off a 16-byte boundary are in a hash table with a lock. Such blocks
// come from the program's own allocators and from small size classes of some
// mallocs.
//
// Blocks of the program's own allocators have a third tree. The first block of
// an arena may have the same address as the malloc'ed block that contains the
// arena. The map must contain both blocks.

#ifndef MPROF_RT_HEAP_LIVEMAP_H
#define MPROF_RT_HEAP_LIVEMAP_H

#include "sys/base.h"

// Inserts a block with its cell. If the map already has a block at addr, the
// runtime did not see the free of the old block. In this case stores the old
// block's cell in *stale; otherwise stores 0. Returns false if there is no
// memory. Call with the recursion guard set.
bool mprof_live_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes the block at addr and returns its cell, or 0 if the map does not
// contain the block. If mprof_live_needs_guard(addr), call with the recursion
// guard set.
uint32_t mprof_live_take(uintptr_t addr);
// Returns the cell of the block at addr, which stays in the map, or 0. addr: a
// multiple of 16 with a slot in the trees. Another thread may free the block
// meanwhile.
uint32_t mprof_live_find(uintptr_t addr);
// The trees have slots for addresses of at most this many bits.
#define MPROF_LIVE_ADDRESS_BITS 47
// Returns whether the trees have no slot for addr. A block at such an address
// is in the hash table, whose lock must only be taken with the recursion guard
// set.
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_LIVE_ADDRESS_BITS != 0;
}
// Calls `visit` with the address of each block of the heap. `visit` must take
// the block. Call with the recursion guard set.
void mprof_live_each(void (*visit)(uintptr_t addr));
// Forgets all blocks of the heap, and the addresses of custom blocks. Call this
// in a forked child, with mprof_custom_reset.
void mprof_live_reset(void);

// --- custom blocks: those of the program's own allocators ---

// If the program frees a single block, the runtime finds it by its address. If
// the program frees a whole arena, the runtime finds the arena's blocks by the
// address that identifies the arena. Call these functions with the recursion
// guard set.

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

// Inserts the block b. If b->is_outer is false and the map has other blocks at
// the same address, the program must have freed those blocks unseen by the
// runtime. In this case, removes them and calls `stale` with the cell of each.
// Returns false if there is no memory.
bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t cell));
// Removes the block at addr and returns its cell, or returns 0 if there is no
// block. If there are nested blocks at addr, removes the outermost block.
uint32_t mprof_custom_take(uintptr_t addr);
// Removes all blocks of an arena and calls `gone` with the address and the cell
// of each block. If the arena's slot of the hash table has no arena with
// counted blocks, takes no lock.
void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t cell));
// Forgets all arenas. Call this in a forked child.
void mprof_custom_reset(void);

#endif // MPROF_RT_HEAP_LIVEMAP_H
