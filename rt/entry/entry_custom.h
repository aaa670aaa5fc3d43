// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the program's own allocators and arenas. An entry is a function of
// the runtime that instrumented code calls. These entries are called by two
// kinds of code: the call sites of functions marked with mprof_alloc or a
// similar attribute, and the inline functions of mprof/mprof.h. The entries
// only count blocks. The calling code itself calls the allocator.

#ifndef MPROF_RT_ENTRY_ENTRY_CUSTOM_H
#define MPROF_RT_ENTRY_ENTRY_CUSTOM_H

#include "sys/abi_words.h"

// Count the allocation of a block of size bytes, and the free of a block.
MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size);
MPROF_ENTRY void __mprof_custom_free(void *ptr);

// Count the allocation of a block in an arena, and the frees of all blocks of
// an arena. The inline functions of mprof/mprof.h call these two entries.
MPROF_ENTRY void __mprof_arena_alloc(const void *arena, void *ptr, size_t size);
MPROF_ENTRY void __mprof_arena_reset(const void *arena);
// Counts a block of an allocator from which other counted allocators take their
// memory. Blocks of those other allocators that lie inside this block stay
// counted.
MPROF_ENTRY void __mprof_custom_alloc_each(void *ptr, size_t size);
// Begins a reallocation of the block at ptr. Removes the block from the profile
// before the allocator can give the block's address to another thread. Returns
// a token for the two functions below.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr);
// Records the result of a reallocation.
// token: the result of __mprof_custom_realloc_begin.
// new_ptr: if NULL and size is 0, the block at old_ptr was freed. If NULL and
//   size is not 0, the reallocation has failed, and the block remains.
// countdown: the thread's countdown after the call site has subtracted size.
// __mprof_custom_realloc_end_each is for blocks that may contain other counted
// blocks.
MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown);
MPROF_ENTRY void __mprof_custom_realloc_end_each(uint64_t token, void *old_ptr,
                                                 void *new_ptr, size_t size,
                                                 int64_t countdown);

#endif // MPROF_RT_ENTRY_ENTRY_CUSTOM_H
