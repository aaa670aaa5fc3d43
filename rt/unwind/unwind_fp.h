// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by frame pointers: from a frame address to return addresses. Also
// the tests of stacks and roots that unwinding by call frame information
// (unwind_cfi.h) shares. Unwinding does not fault, allocate or take a lock.
// (Go: fpTracebackPCs)

#ifndef MPROF_RT_UNWIND_UNWIND_FP_H
#define MPROF_RT_UNWIND_UNWIND_FP_H

#include "sys/base.h"

// Why a stack does not reach its root. Writers mark a truncated stack with a
// pseudo frame.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  MPROF_STACK_CUT_CHAIN = 1, // code without frame pointers, or a broken chain
  MPROF_STACK_CUT_DEPTH = 2, // the stack has stack_depth frames
};

// The part of a thread's own stack that is known to be readable. It stays
// readable as long as the thread lives. The thread may also run on other
// stacks (coroutines, signals); these come and go, so no range is kept for
// them.
struct mprof_stack_range {
  uintptr_t lo, hi; // equal at first; hi is the end of the thread's stack
  bool is_main;     // the stack of the process's first thread
};
// Returns the range of the calling thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// Finds libc's code. Called at start.
void mprof_unwind_init(void);
// Finds the return address at the root of makecontext's stacks. Called before
// the first stack is unwound, and not at start: a program that allocates
// nothing should not pay for it.
void mprof_unwind_learn_roots(void);

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

// For functions that read a stack: the words belong to other frames, so
// sanitizers must not check the reads.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

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

// --- shared by both ways of unwinding ---

// Returns the readable range of the stack that fp lies on: range if fp lies on
// the thread's own stack, otherwise foreign, which it fills. Returns NULL if
// not even the frame at fp can be read.
struct mprof_stack_range *mprof_stack_enter(struct mprof_stack_range *range,
                                            struct mprof_stack_range *foreign,
                                            uintptr_t fp);
// Returns whether [addr, addr + 16) is readable. Extends a foreign range
// upwards if needed. addr must lie above all addresses read so far.
bool mprof_stack_reaches(struct mprof_stack_range *range, bool is_foreign,
                         uintptr_t addr);
// Returns whether pc is the address to which a coroutine's function returns.
bool mprof_is_context_root(mprof_pc pc);
// Returns how many of the n frames of a complete stack to keep: the callers of
// main and of a thread's start function are not the program's.
size_t mprof_without_root(const mprof_pc *pcs, size_t n);

#endif // MPROF_RT_UNWIND_UNWIND_FP_H
