// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by frame pointers. (Go: fpTracebackPCs)
//
// The pass makes every function that calls another keep a frame pointer. So a
// stack of instrumented code is a linked list:
//   [fp]      the caller's frame address
//   [fp + 8]  the return address
// Code without frame pointers (most libraries) may keep any value in the
// register, so each step is checked: it leads upwards, it is aligned like a
// pushed frame, it is not too far, and the kernel has confirmed that the
// memory is readable. A step may therefore be wrong, but it never faults.
// Writers drop addresses that lie in no code.

#include "unwind/unwind_fp.h"

#include "sys/abi_words.h"
#include "unwind/stack_range.h"

// Called when the chain cannot be followed beyond the frame at fp. Returns
// COMPLETE if that frame is the thread's root. A thread starts with a frame
// address of 0. In the first thread, main finds an arbitrary value of libc's in
// the register, so instrumented main records its frame address. Before main
// runs and after it has returned, the callers are libc's functions only.
static enum mprof_stack_end classify(const struct mprof_stack_range *r,
                                     uintptr_t fp, uintptr_t next) {
  if (next == 0)
    return MPROF_STACK_COMPLETE;
  if (!r->is_main)
    return MPROF_STACK_CUT_CHAIN;
  uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  return main_frame == 0 || fp == main_frame ? MPROF_STACK_COMPLETE
                                             : MPROF_STACK_CUT_CHAIN;
}

MPROF_NO_SANITIZER size_t mprof_unwind_rest(struct mprof_stack_range *range,
                                            uintptr_t fp, mprof_pc *pcs,
                                            size_t before, size_t depth,
                                            enum mprof_stack_end *end) {
  size_t n = 0;
  *end = MPROF_STACK_CUT_DEPTH;
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  if (!range)
    return 0;
  for (;;) {
    uintptr_t next = ((const uintptr_t *)fp)[0];
    uintptr_t pc = ((const uintptr_t *)fp)[1];
    if (mprof_unlikely(pc < MPROF_PAGE || pc >> 47)) {
      *end = pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      return n;
    }
    pcs[n++] = pc;
    if (mprof_unlikely(mprof_is_context_root(pc))) {
      *end = MPROF_STACK_COMPLETE;
      return mprof_without_root(pcs, n, before);
    }
    // One comparison checks both bounds: if next is below fp, the difference
    // wraps around to a huge value.
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0) {
      *end = classify(range, fp, next);
      return *end == MPROF_STACK_COMPLETE ? mprof_without_root(pcs, n, before)
                                          : n;
    }
    if (n == depth)
      return n;
    if (!mprof_stack_reaches(range, range == &foreign, next)) {
      *end = MPROF_STACK_CUT_CHAIN;
      return n;
    }
    fp = next;
  }
}
