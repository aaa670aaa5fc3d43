// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of freed blocks that lie on page boundaries, for the next samples. An
// allocator would hand such a block to the loop that has just freed it, and
// then every later free in the loop would call the runtime (placed_cache.c).
// Takes no lock; may be called by any thread.

#ifndef MPROF_RT_HEAP_PLACED_CACHE_H
#define MPROF_RT_HEAP_PLACED_CACHE_H

#include "sys/base.h"

// Keeps a counted block that the program frees. The block's family must be one
// that may be placed. Returns false if the block is not kept; then the caller
// must free it.
bool mprof_placed_put(void *p);
// Checks a block that the program frees and that was not counted. If the block
// is kept here, the program frees it for the second time. Then the block is
// removed and freed, so that the caller's free shows the allocator the error.
void mprof_placed_expose(void *p);
// Returns a kept block for size bytes, or NULL. Its contents are undefined.
void *mprof_placed_take(size_t size);

#endif // MPROF_RT_HEAP_PLACED_CACHE_H
