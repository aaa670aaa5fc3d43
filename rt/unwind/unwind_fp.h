// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by frame pointers: from a frame address to return addresses.
// Unwinding does not fault, allocate or take a lock. (Go: fpTracebackPCs)

#ifndef MPROF_RT_UNWIND_UNWIND_FP_H
#define MPROF_RT_UNWIND_UNWIND_FP_H

#include "sys/base.h"
#include "unwind/stack_range.h"

// Why a stack does not reach its root. Writers mark a truncated stack with a
// pseudo frame.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  MPROF_STACK_CUT_CHAIN = 1, // code without frame pointers, or a broken chain
  MPROF_STACK_CUT_DEPTH = 2, // the stack has stack_depth frames
};

// Continues an unwinding as mprof_unwind does. fp is the address of the frame
// after `before` return addresses that are known. They are not counted in depth
// nor in the result.
size_t mprof_unwind_rest(struct mprof_stack_range *range, uintptr_t fp,
                         mprof_pc *pcs, size_t before, size_t depth,
                         enum mprof_stack_end *end);
// Follows the chain of frames from fp, the frame address of a hook's entry. So
// the first return address lies in the function that contains the call site.
// Writes at most depth return addresses to pcs and returns their number. *end
// says whether the last one is the thread's root. Reads only memory inside
// range, and extends range where the kernel confirms that memory is readable.
// So it cannot fault on any stack.
static inline size_t mprof_unwind(struct mprof_stack_range *range, uintptr_t fp,
                                  mprof_pc *pcs, size_t depth,
                                  enum mprof_stack_end *end) {
  return mprof_unwind_rest(range, fp, pcs, 0, depth, end);
}

// Maximum size of a frame in bytes. A larger step ends the stack.
#define MPROF_MAX_FRAME_BYTES (4u << 20)

// Returns whether the chain from *fp has the n return addresses at pcs, which
// were unwound earlier. If so, stores the last frame's address in *fp. Reads
// only the part of the thread's own stack in range. n is not 0.
MPROF_NO_SANITIZER static inline bool
mprof_unwind_along(const struct mprof_stack_range *range, uintptr_t *fp,
                   const mprof_pc *pcs, size_t n) {
  const uintptr_t last = range->hi - 16;
  uintptr_t at = *fp;
  if (at < range->lo || at > last)
    return false;
  for (size_t i = 0;; at = *(const uintptr_t *)at) {
    if (((const uintptr_t *)at)[1] != pcs[i])
      return false;
    if (++i == n)
      break;
    // The step is not checked to lead to a valid frame. Each step of the
    // earlier unwinding was, and a chain with all of its return addresses is
    // the same chain.
    const uintptr_t next = *(const uintptr_t *)at;
    if (next <= at || next > last)
      return false;
  }
  *fp = at;
  return true;
}

#endif // MPROF_RT_UNWIND_UNWIND_FP_H
