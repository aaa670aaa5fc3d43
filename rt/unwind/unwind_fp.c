// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds stacks by frame pointers. (Go: fpTracebackPCs)
//
// The compiler pass makes every function that calls another function keep a
// frame pointer. So the frames of instrumented code form a linked list. If fp
// is a frame address:
//   [fp]      the caller's frame address
//   [fp + 8]  the return address
//
// Code without frame pointers (most libraries) may keep any value in the frame
// pointer register. So each step is checked: the caller's frame must lie above
// fp, must be aligned like a frame, must not be too far away, and must be in
// memory that is known to be readable. A wrong value may pass these checks, but
// reading the frame never faults. Therefore bucket_at.c uses a stack from this
// file only if unwind_cfi.c has found that all of its code keeps frame
// pointers.

#include "unwind/unwind_fp.h"

#include "sys/abi_words.h"
#include "unwind/stack_range.h"

// Returns why the chain of frames ends at the frame at fp. next, pc: the
// caller's frame address and code address in this frame. The result is
// MPROF_STACK_COMPLETE if the frame is the root of the thread's stack. A new
// thread starts with frame address 0, so next is 0 at the root of its stack. In
// the first thread, libc leaves an arbitrary value in the frame pointer
// register when it calls main. Therefore instrumented main stores its frame
// address in __mprof_main_frame, and the frame at this address is the root.
// __mprof_main_frame is 0 before main runs and after main has returned. In both
// cases, all frames above fp belong to libc, so the stack counts as complete.
static enum mprof_stack_end classify(const struct mprof_stack_range *r,
                                     uintptr_t fp, uintptr_t next,
                                     mprof_pc pc) {
  if (mprof_is_made_root(pc, next))
    return MPROF_STACK_COMPLETE;
  if (!r->is_main)
    return MPROF_STACK_CUT_CHAIN;
  uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  return main_frame == 0 || fp == main_frame ? MPROF_STACK_COMPLETE
                                             : MPROF_STACK_CUT_CHAIN;
}

// Returns how many of the n frames at pcs the caller must keep, and sets *end.
// The chain of frames breaks at the last frame, which is at fp. next: the
// caller's frame address in this frame. Drops libc's frames only if libc has
// called main or the start function of a thread from them. Without this check,
// a chain that ends in another function of libc, such as qsort, would look like
// a complete stack.
static MPROF_NOINLINE size_t stop(const struct mprof_stack_range *r,
                                  uintptr_t fp, uintptr_t next,
                                  const mprof_pc *pcs, size_t n, size_t before,
                                  enum mprof_stack_end *end) {
  enum { OF_LIBC_MAX = 4 };
  const size_t first = n > OF_LIBC_MAX ? n - OF_LIBC_MAX : 0;
  for (size_t i = n; i > first; i--)
    if (before + i > 1 && mprof_is_root(pcs[i - 1])) {
      *end = MPROF_STACK_COMPLETE;
      return i - 1;
    }
  *end = classify(r, fp, next, pcs[n - 1]);
  const bool is_called_by_libc =
      r->is_main && before + n > 1 && fp == (uintptr_t)__mprof_main_frame;
  return is_called_by_libc ? n - 1 : n;
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
    uintptr_t pc = mprof_return_address(((const uintptr_t *)fp)[1]);
    if (mprof_unlikely(pc < MPROF_PAGE || pc >> MPROF_ADDRESS_BITS)) {
      *end = pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      return n;
    }
    pcs[n++] = pc;
    if (mprof_unlikely(mprof_is_context_root(pc))) {
      *end = MPROF_STACK_COMPLETE;
      return mprof_without_root(pcs, n, before);
    }
    // The first comparison checks both bounds of next. If next is below fp +
    // 16, the unsigned difference is huge.
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES ||
        (next & (MPROF_BP_ALIGNMENT - 1)) != 0) {
      return stop(range, fp, next, pcs, n, before, end);
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
