// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ends of stacks, and the comparison of a chain of frame pointers with a
// known stack.

#ifndef MPROF_RT_UNWIND_UNWIND_FP_H
#define MPROF_RT_UNWIND_UNWIND_FP_H

#include "sys/arch.h"
#include "sys/base.h"
#include "unwind/stack_range.h"

// Why an unwound stack ends. In profiles, a truncated stack ends with a pseudo
// frame that shows the reason.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  // Cut at a broken chain of frame pointers, or at code without frame pointers
  // and call frame information.
  MPROF_STACK_CUT_CHAIN = 1,
  MPROF_STACK_CUT_DEPTH = 2, // cut at the limit of stack_depth frames
};

// Maximum size of a frame in bytes. Unwinding ends if the caller's frame is
// farther away.
#define MPROF_MAX_FRAME_BYTES (4u << 20)

// Compares a stack with n return addresses at pcs that were unwound earlier.
// Returns whether the chain of frames from *fp has these return addresses. If
// the chain has them, stores in *fp the address of the frame with the last of
// these addresses. Reads only memory inside *range, on the thread's own stack.
// n must not be 0.
MPROF_NO_SANITIZER static inline bool
mprof_unwind_along(const struct mprof_stack_range *range, uintptr_t *fp,
                   const mprof_pc *pcs, size_t n) {
  const uintptr_t last = range->hi - 16;
  uintptr_t at = *fp;
  if (at < range->lo || at > last)
    return false;
  for (size_t i = 0;; at = *(const uintptr_t *)at) {
    if (!mprof_is_return_address(((const uintptr_t *)at)[1], pcs[i]))
      return false;
    if (++i == n)
      break;
    // This loop does not check alignment and frame size at each step, because
    // the earlier unwinding has made these checks. A chain with the same return
    // addresses is taken for the same chain.
    const uintptr_t next = *(const uintptr_t *)at;
    if (next <= at || next > last)
      return false;
  }
  *fp = at;
  return true;
}

#endif // MPROF_RT_UNWIND_UNWIND_FP_H
