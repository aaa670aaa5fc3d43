// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers when the counted blocks in use were allocated, for the lifetimes in
// the heapx profile. Without the option heapx, no block is remembered.

#ifndef MPROF_RT_HEAP_BIRTHS_H
#define MPROF_RT_HEAP_BIRTHS_H

#include "sys/base.h"

// Call these functions with the recursion guard set. is_custom: whether the
// block is one of the program's own allocators; such a block may have the
// address of a block of the heap.

// Remembers that the block at ptr was allocated at this time, in ticks
// (clock.h). If a block at ptr is known already, its free was not seen, and the
// new block replaces it. Without memory, the lifetime of the block will be
// unknown.
void mprof_births_put(const void *ptr, bool is_custom, uint64_t ticks);
// Forgets the block at ptr. Returns when it was allocated, or 0 if that is
// unknown.
uint64_t mprof_births_take(const void *ptr, bool is_custom);
// Forgets all blocks, in a forked child.
void mprof_births_reset(void);

#endif // MPROF_RT_HEAP_BIRTHS_H
