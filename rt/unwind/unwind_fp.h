// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds a stack by frame pointers: starts at a frame address and stores the
// return addresses of the frames. Unwinding never faults, never allocates and
// takes no lock. (Go: fpTracebackPCs)

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

// Unwinds the rest of a stack as mprof_unwind does. The caller already knows
// the first `before` return addresses of the stack. fp is the address of the
// first frame whose return address is not yet known. Stores at most `depth`
// further addresses at pcs and returns their number.
size_t mprof_unwind_rest(struct mprof_stack_range *range, uintptr_t fp,
                         mprof_pc *pcs, size_t before, size_t depth,
                         enum mprof_stack_end *end);
// Follows the chain of frames from fp, the frame address of the runtime's
// function that the program has called. So the first return address lies in the
// function that contains the call site. Writes at most `depth` return addresses
// to pcs and returns their number. Sets *end to the reason why the stack ends.
// Reads only memory inside *range, so reading cannot fault. If the kernel
// confirms that more memory is readable, extends *range. If the stack has code
// without frame pointers, frames may be missing in the result
// (mprof_unwind_checked).
static inline size_t mprof_unwind(struct mprof_stack_range *range, uintptr_t fp,
                                  mprof_pc *pcs, size_t depth,
                                  enum mprof_stack_end *end) {
  return mprof_unwind_rest(range, fp, pcs, 0, depth, end);
}

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
