// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the address of a counted block to its bucket. (Go: setprofilebucket,
// the special of a span)
//
// Two radix trees of 32-bit handles: one by 4 KiB page for the blocks of
// the sampled mode, which lie on page boundaries, one by 16 bytes for the
// others. Slots are near each other as the blocks are, need no lock, since a
// block has one owner, and cost a quarter of the heap in exact mode. Blocks
// off a 16-byte boundary (custom allocators, small classes of some malloc) go
// to a hash table with a lock.
//
// Blocks of the program's own allocators are entered apart from the heap's: the
// first block of an arena begins where the malloc'ed one does that it was cut
// from, and both are there.

#ifndef MPROF_RT_HEAP_LIVEMAP_H
#define MPROF_RT_HEAP_LIVEMAP_H

#include "sys/base.h"
#include "sys/lock.h"

// Enters a block. *stale gets what the address held before, 0 if nothing: a
// block whose free was not seen. False when there is no memory. Guard set.
bool mprof_live_put(uintptr_t addr, bool is_placed, uint32_t bucket,
                    uint32_t *stale);
// Removes a block and returns its bucket, 0 if it is none. *is_placed: which
// tree it was in. Needs the guard where mprof_live_needs_guard.
uint32_t mprof_live_take(uintptr_t addr, bool *is_placed);
// The same for custom blocks, whose values custom_blocks.c gives a meaning:
// what an address holds, 0 if nothing, and what it is to hold, 0 for nothing.
// False when there is no memory for it. Guard set.
uint32_t mprof_live_custom(uintptr_t addr);
bool mprof_live_set_custom(uintptr_t addr, uint32_t value);
// The trees cover this much of the address space.
#define MPROF_ADDRESS_BITS 47
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_ADDRESS_BITS != 0;
}
void mprof_live_reset(void);

extern struct mprof_lock mprof_odd_lock;

#endif // MPROF_RT_HEAP_LIVEMAP_H
