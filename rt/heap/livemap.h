// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the address of each live counted block to the block's bucket. (Go:
// setprofilebucket, the special of a span)
//
// Heap blocks are in two radix trees of 32-bit handles. One tree has a slot for
// each 4 KiB page; it contains the blocks of sampled mode, which are placed on
// page boundaries. The other tree has a slot for each 16 bytes. Slots of
// neighboring blocks are neighbors. The trees need no lock, since only one
// thread at a time owns a block. In exact mode the trees take a quarter of the
// heap's size. Blocks off a 16-byte boundary (custom allocators, small size
// classes of some mallocs) are in a hash table with a lock.
//
// Blocks of the program's own allocators have a third tree. The first block of
// an arena may have the same address as the malloc'ed block that contains the
// arena, and the map must contain both blocks.

#ifndef MPROF_RT_HEAP_LIVEMAP_H
#define MPROF_RT_HEAP_LIVEMAP_H

#include "sys/base.h"
#include "sys/lock.h"

// Inserts a block. If the map already has a block at addr, the runtime did not
// see that block's free; stores that block's bucket in *stale. Otherwise stores
// 0. Returns false if there is no memory. Call with the guard set.
bool mprof_live_put(uintptr_t addr, bool is_placed, uint32_t bucket,
                    uint32_t *stale);
// Removes a block and returns its bucket, or 0 if the map does not contain the
// block. Stores in *is_placed whether the block was in the tree of page
// boundaries. Call with the guard set if mprof_live_needs_guard(addr).
uint32_t mprof_live_take(uintptr_t addr, bool *is_placed);
// Get and set the value at the address of a block of the program's own
// allocators; 0: no block. custom_blocks.c defines the meaning of the values.
// mprof_live_set_custom returns false if there is no memory for the value. Call
// with the guard set.
uint32_t mprof_live_custom(uintptr_t addr);
bool mprof_live_set_custom(uintptr_t addr, uint32_t value);
// The trees cover addresses of this many bits.
#define MPROF_ADDRESS_BITS 47
// Returns whether the trees have no slot for addr. A block at such an address
// is in the hash table, and the guard must be set to take the hash table's
// lock.
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_ADDRESS_BITS != 0;
}
// Forgets all blocks. Call this in a forked child.
void mprof_live_reset(void);

extern struct mprof_lock mprof_odd_lock;

#endif // MPROF_RT_HEAP_LIVEMAP_H
