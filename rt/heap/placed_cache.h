// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps a cache of freed blocks that are on page boundaries. The next samples
// reuse these blocks. Without the cache, an allocator would return such a block
// to the loop that has just freed it, and every later free in this loop would
// call the runtime (placed_cache.c). The functions take no lock and may be
// called by any thread.

#ifndef MPROF_RT_HEAP_PLACED_CACHE_H
#define MPROF_RT_HEAP_PLACED_CACHE_H

#include "sys/base.h"

// Keeps a counted block that the program frees. The block's family must be
// allowed to place blocks (page_placement.h). Returns false if the block is not
// kept; then the caller must free it.
bool mprof_placed_put(void *p);
// Detects a double free. Call this when the program frees a block that is not
// counted. If the cache keeps the block, the program has already freed it once.
// Then removes the block from the cache and frees it, so that the allocator
// detects the error when the caller frees the block again.
void mprof_placed_expose(void *p);
// Removes a block of at least size bytes from the cache and returns it, or NULL
// if there is none. The contents of the block are undefined.
void *mprof_placed_take(size_t size);

#endif // MPROF_RT_HEAP_PLACED_CACHE_H
