// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map from the address of a live counted block to its bucket. (Go:
// setprofilebucket, the special of a span)
//
// Two radix trees of 32-bit handles serve the heap's blocks. One has a slot for
// each 4 KiB page, for the blocks of sampled mode, which lie on page
// boundaries. The other has a slot for each 16 bytes. Slots of neighboring
// blocks are neighbors. They need no lock, since a block has one owner. In
// exact mode they cost a quarter of the heap's size. Blocks off a 16-byte
// boundary (custom allocators, small size classes of some mallocs) go to a hash
// table with a lock.
//
// Blocks of the program's own allocators have a tree of their own: the first
// block of an arena has the same address as the malloc'ed block from which the
// arena was cut, and both are entered.

#ifndef MPROF_RT_HEAP_LIVEMAP_H
#define MPROF_RT_HEAP_LIVEMAP_H

#include "sys/base.h"
#include "sys/lock.h"

// Enters a block. If the address already has a block, whose free was not seen,
// stores that block's bucket in *stale, otherwise 0. Returns false if there is
// no memory. Call with the guard set.
bool mprof_live_put(uintptr_t addr, bool is_placed, uint32_t bucket,
                    uint32_t *stale);
// Removes a block and returns its bucket, 0 if the block is not entered. Stores
// in *is_placed in which tree it was. Call with the guard set if
// mprof_live_needs_guard(addr).
uint32_t mprof_live_take(uintptr_t addr, bool *is_placed);
// Get and set the value of a custom block's address; 0: none. custom_blocks.c
// gives the values their meaning. Setting returns false if there is no memory
// for the value. Call with the guard set.
uint32_t mprof_live_custom(uintptr_t addr);
bool mprof_live_set_custom(uintptr_t addr, uint32_t value);
// Bits of an address that the trees cover.
#define MPROF_ADDRESS_BITS 47
// Returns whether an address has no slot in a tree, so that its block is in the
// hash table.
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_ADDRESS_BITS != 0;
}
// Forgets all blocks, in a forked child.
void mprof_live_reset(void);

extern struct mprof_lock mprof_odd_lock;

#endif // MPROF_RT_HEAP_LIVEMAP_H
