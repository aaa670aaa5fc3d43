// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the address of each live counted block to the block's cell: the counters
// of the thread that has counted the block (counts.h). (Go:
// setprofilebucket, the special of a span)
//
// Heap blocks are in two radix trees of 32-bit handles. One tree has a slot for
// each 4 KiB page and contains the blocks on page boundaries, so all sampled
// blocks that the runtime has placed there (page_placement.h). It is small,
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
#include "sys/lock.h"

// Inserts a block with its cell. If the map already has a block at addr, the
// runtime did not see the free of the old block. In this case stores the old
// block's cell in *stale; otherwise stores 0. Returns false if there is no
// memory. Call with the recursion guard set.
bool mprof_live_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes the block at addr and returns its cell, or 0 if the map does not
// contain the block. If mprof_live_needs_guard(addr), call with the recursion
// guard set.
uint32_t mprof_live_take(uintptr_t addr);
// Get and set the value that the map has for addr in the tree of the program's
// own allocators; 0: these allocators have no block at addr. custom_blocks.c
// defines the meaning of the values. mprof_live_set_custom returns false if
// there is no memory for the value. Call with the recursion guard set.
uint32_t mprof_live_custom(uintptr_t addr);
bool mprof_live_set_custom(uintptr_t addr, uint32_t value);
// The trees have slots for addresses of at most this many bits.
#define MPROF_LIVE_ADDRESS_BITS 47
// Returns whether the trees have no slot for addr. A block at such an address
// is in the hash table, whose lock must only be taken with the recursion guard
// set.
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_LIVE_ADDRESS_BITS != 0;
}
// Forgets all blocks. Call this in a forked child.
void mprof_live_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_odd_lock;

#endif // MPROF_RT_HEAP_LIVEMAP_H
