// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the program's own allocators and arenas.

#ifndef MPROF_RT_ENTRY_ENTRY_CUSTOM_H
#define MPROF_RT_ENTRY_ENTRY_CUSTOM_H

#include "sys/abi_words.h"

MPROF_ENTRY void __mprof_custom_alloc(void *ptr, size_t size);
MPROF_ENTRY void __mprof_custom_free(void *ptr);

// What the inline functions of mprof/mprof.h call.
MPROF_ENTRY void __mprof_arena_alloc(const void *arena, void *ptr, size_t size);
MPROF_ENTRY void __mprof_arena_reset(const void *arena);
// The same where blocks of allocators that use one another are all counted:
// what the address already has lies within this block.
MPROF_ENTRY void __mprof_custom_alloc_each(void *ptr, size_t size);
// Takes the block out of the profile before the allocator may hand its address
// to another thread; the result names it for __mprof_custom_realloc_end.
MPROF_ENTRY uint64_t __mprof_custom_realloc_begin(void *ptr);
MPROF_ENTRY void __mprof_custom_realloc_end(uint64_t token, void *old_ptr,
                                            void *new_ptr, size_t size,
                                            int64_t countdown);
MPROF_ENTRY void __mprof_custom_realloc_end_each(uint64_t token, void *old_ptr,
                                                 void *new_ptr, size_t size,
                                                 int64_t countdown);

#endif // MPROF_RT_ENTRY_ENTRY_CUSTOM_H
