// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a frame pointer to return addresses. (Go: fpTracebackPCs)

#ifndef MPROF_RT_UNWIND_UNWIND_FP_H
#define MPROF_RT_UNWIND_UNWIND_FP_H

#include "sys/base.h"

// Why a stack has no root. The writers end such a stack with a pseudo frame.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  MPROF_STACK_CUT_CHAIN = 1, // code without frame pointers, or a broken chain
  MPROF_STACK_CUT_DEPTH = 2, // stack_depth frames
};

// The part of a thread's own stack that is known to be readable; it stays so as
// long as the thread lives. Other stacks it may run on come and go, so nothing
// is remembered of them.
struct mprof_stack_range {
  uintptr_t lo, hi; // equal at first; hi is where the thread's stack ends
  bool is_main;     // of the process's first thread
};
// That of the calling thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// At start: finds libc.
void mprof_unwind_init(void);
// Before the first stack: finds where makecontext's stacks begin. Not at start,
// where a program that allocates nothing would pay for it.
void mprof_unwind_learn_roots(void);

// Follows the chain that begins at fp, the frame address of the hook's entry,
// so the first return address lies in the function with the call site.
// Writes at most depth return addresses to pcs and returns how many; *end says
// whether the last is the thread's root. Reads only memory inside range, which
// it widens as the kernel confirms; so it cannot fault on any stack.
size_t mprof_unwind(struct mprof_stack_range *range, uintptr_t fp,
                    mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);

// A frame larger than this ends the stack.
#define MPROF_MAX_FRAME_BYTES (4u << 20)

// The sanitizers must not check what is read of a stack: other frames' words.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

// Whether that way is the one along the n return addresses at pcs, which
// another unwinding has given; *fp is then the last one's frame. It lies on the
// thread's own stack as far as range knows it; n is not 0.
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
    // Not whether it is one of a frame: that of the other unwinding was, and
    // what has all of its return addresses is the same chain.
    const uintptr_t next = *(const uintptr_t *)at;
    if (next <= at || next > last)
      return false;
  }
  *fp = at;
  return true;
}

// --- what both ways share ---
// What may be read of the stack that fp lies on: range itself, or, on a stack
// that is not the thread's own, *foreign. NULL: not even the frame at fp.
struct mprof_stack_range *mprof_stack_enter(struct mprof_stack_range *range,
                                            struct mprof_stack_range *foreign,
                                            uintptr_t fp);
// Whether [addr, addr + 16) may be read; a foreign stack is looked at further
// up. addr is above what was read before.
bool mprof_stack_reaches(struct mprof_stack_range *range, bool is_foreign,
                         uintptr_t addr);
// Whether pc is where a coroutine returns to at its end.
bool mprof_is_context_root(mprof_pc pc);
// How many of n frames to keep of a stack up to its root: what called main or a
// thread's function is no frame of the program's.
size_t mprof_without_root(const mprof_pc *pcs, size_t n);

#endif // MPROF_RT_UNWIND_UNWIND_FP_H
