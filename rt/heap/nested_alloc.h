// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is allocated while another allocator is called is part of its block and
// not counted: by custom allocators, with -fmprof-nested=outermost, and by the
// program's own operator new where malloc is intercepted. The outermost call
// stores its frame address in __mprof_nested_frame, with the return address
// beside it in __mprof_nested_return, and takes it out when it returns.

#ifndef MPROF_RT_HEAP_NESTED_ALLOC_H
#define MPROF_RT_HEAP_NESTED_ALLOC_H

#include "sys/abi_words.h"

#include <stdbool.h>

bool mprof_nested_find(uintptr_t frame);

// Whether an allocation is part of another block; frame: the frame address of a
// function of the runtime's that it has called.
static inline bool mprof_is_nested(uintptr_t frame) {
  return __builtin_expect(__mprof_nested_frame != 0, 0) &&
         mprof_nested_find(frame);
}

#endif // MPROF_RT_HEAP_NESTED_ALLOC_H
