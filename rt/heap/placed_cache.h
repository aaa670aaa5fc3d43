// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of blocks on page boundaries: freed blocks, and small blocks that
// were allocated ahead. The next samples use these blocks. If counted blocks
// are on page boundaries, a free calls the runtime only for such a block.
// Without the cache, the allocator would return such a block again and again to
// a loop that allocates and frees. Every free in this loop would then call the
// runtime (placed_cache.c). The functions of this file take no lock. Any thread
// may call them.

#ifndef MPROF_RT_HEAP_PLACED_CACHE_H
#define MPROF_RT_HEAP_PLACED_CACHE_H

#include "sys/base.h"

// The cache has slots for each size below 2^15 usable bytes.
#define MPROF_LG_PLACED_END 15u
// glibc maps memory only for blocks of this size or more.
#define MPROF_MIN_MAPPED (128u << 10)

// Puts a counted block that the program frees into the cache. The block must
// come from a family of functions that places its counted blocks on page
// boundaries (page_placement.h). Returns false if the cache has no slot for the
// block. In this case the caller must free the block.
bool mprof_placed_put(void *p);
// Counts the free of the block at ptr, which is on a page boundary, if the
// block was counted. may_keep: whether the block's family of functions places
// its counted blocks on page boundaries. Returns true if the block is now in
// the cache. Otherwise the caller must free the block. If the block is in the
// cache already, the program has freed it before. Then this function frees the
// block for that time, so that the allocator detects the double free when the
// caller frees the block again.
bool mprof_placed_free(void *ptr, bool may_keep);
// Returns a block of at least `size` bytes on a page boundary, from the cache
// or from the allocator's posix_memalign. Returns NULL if there is no memory.
// Keeps errno. *is_fresh: true: the allocator has just allocated the block, so
// its memory
//   may be known to be zero. false: the contents are undefined, or the result
//   is NULL.
void *mprof_placed_get(size_t size, bool *is_fresh);
// The same for a block that the program resizes or is likely to resize. If the
// block is large, the memory behind it is free, so that the next resize need
// not move the block.
void *mprof_placed_get_resized(size_t size, bool *is_fresh);
// Frees a block that the program does not free: the runtime has moved it, or
// has allocated it for itself. The free does not change glibc's threshold
// between blocks in its heap and blocks that it maps. Keeps errno.
void mprof_free_own(void *p);

#endif // MPROF_RT_HEAP_PLACED_CACHE_H
