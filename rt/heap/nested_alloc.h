// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detects nested allocations. If an allocator takes the memory for a block from
// another allocator, only the outer block must be counted. This is needed in
// two cases: for the program's own allocators with -fmprof-nested=outermost,
// and for the program's own operator new if malloc is intercepted.
//
// The outermost allocation call stores its frame address in
// __mprof_nested_frame and its return address in __mprof_nested_return. The
// outermost call clears __mprof_nested_frame when the call returns.

#ifndef MPROF_RT_HEAP_NESTED_ALLOC_H
#define MPROF_RT_HEAP_NESTED_ALLOC_H

#include "sys/abi_words.h"

#include <stdbool.h>

// Returns whether the function with the frame address __mprof_nested_frame is
// still active. Returns false if the function was left by longjmp or an
// exception. `frame` is the frame address of the calling function or of one of
// its callers.
bool mprof_nested_find(uintptr_t frame);

// Returns whether the current allocation is nested, so that its block is part
// of another block. `frame` is the frame address of a function of the runtime
// that the allocation has called.
static inline bool mprof_is_nested(uintptr_t frame) {
  return __builtin_expect(__mprof_nested_frame != 0, 0) &&
         mprof_nested_find(frame);
}

#endif // MPROF_RT_HEAP_NESTED_ALLOC_H
