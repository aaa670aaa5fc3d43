// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nested allocations. Memory that an allocator takes from another allocator is
// part of its own block and must not be counted again. That concerns custom
// allocators with -fmprof-nested=outermost, and the program's own operator new
// if malloc is intercepted. The outermost call stores its frame address in
// __mprof_nested_frame and its return address in __mprof_nested_return. It
// clears the frame word when it returns.

#ifndef MPROF_RT_HEAP_NESTED_ALLOC_H
#define MPROF_RT_HEAP_NESTED_ALLOC_H

#include "sys/abi_words.h"

#include <stdbool.h>

// Returns whether the function of __mprof_nested_frame is still active above
// frame. If not, it was left by longjmp or an exception.
bool mprof_nested_find(uintptr_t frame);

// Returns whether an allocation is part of another block. frame: the frame
// address of a function of the runtime that the allocation has called.
static inline bool mprof_is_nested(uintptr_t frame) {
  return __builtin_expect(__mprof_nested_frame != 0, 0) &&
         mprof_nested_find(frame);
}

#endif // MPROF_RT_HEAP_NESTED_ALLOC_H
