// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks on page boundaries, kept for the next samples.

#ifndef MPROF_RT_HEAP_PLACED_CACHE_H
#define MPROF_RT_HEAP_PLACED_CACHE_H

#include "sys/base.h"

// Keeps a counted block that the program frees, of a family that may be placed.
// False: the caller must free it.
bool mprof_keep_put(void *p);
// For a block that the program frees and that was not counted: if it is a kept
// one, it is being freed for the second time. Then it is kept no more but
// freed, so that the caller's free shows the allocator what the program does.
void mprof_keep_expose(void *p);
// One that holds size bytes, or NULL. What it holds is undefined.
void *mprof_keep_take(size_t size);

#endif // MPROF_RT_HEAP_PLACED_CACHE_H
