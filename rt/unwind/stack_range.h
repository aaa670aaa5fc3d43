// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a stack that may be read, and the roots of stacks. Both ways of
// unwinding, by frame pointers (unwind_fp.h) and by call frame information
// (unwind_cfi.h), use it.

#ifndef MPROF_RT_UNWIND_STACK_RANGE_H
#define MPROF_RT_UNWIND_STACK_RANGE_H

#include "process/modules.h"
#include "sys/base.h"

// For functions that read a stack: the words belong to other frames, so
// sanitizers must not check the reads.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

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

// --- what may be read ---

// Does the work of mprof_stack_enter for a frame outside the range.
struct mprof_stack_range *
mprof_stack_enter_outside(struct mprof_stack_range *range,
                          struct mprof_stack_range *foreign, uintptr_t fp);
// Returns the readable range of the stack that fp lies on: range if fp lies on
// the thread's own stack, otherwise foreign, which it fills. Returns NULL if
// not even the frame at fp can be read.
static inline struct mprof_stack_range *
mprof_stack_enter(struct mprof_stack_range *range,
                  struct mprof_stack_range *foreign, uintptr_t fp) {
  return mprof_likely(fp >= range->lo && fp + 16 <= range->hi)
             ? range
             : mprof_stack_enter_outside(range, foreign, fp);
}

// Extends the known part of a foreign stack upwards to hold [addr, addr + 16).
bool mprof_stack_extend(struct mprof_stack_range *r, uintptr_t addr);
// Returns whether [addr, addr + 16) is readable. Extends a foreign range
// upwards if needed. addr must lie above all addresses read so far.
static inline bool mprof_stack_reaches(struct mprof_stack_range *range,
                                       bool is_foreign, uintptr_t addr) {
  return mprof_likely(addr + 16 <= range->hi) ||
         (is_foreign && mprof_stack_extend(range, addr));
}

// --- roots ---

// Finds libc's code. Called at start.
void mprof_unwind_init(void);
// Finds the return address at the root of makecontext's stacks. Called before
// the first stack is unwound, and not at start: a program that allocates
// nothing should not pay for it.
void mprof_unwind_learn_roots(void);

struct mprof_stack_roots {
  // Address to which a function started by makecontext returns, 0 if unknown.
  // It marks the root of a coroutine. The saved frame address there is an
  // arbitrary value from the thread that made the context. Written once.
  mprof_pc context;
  // libc's code, empty if libc is linked statically. Frames in it do not belong
  // to the program. Written once at start.
  struct mprof_module libc;
};
extern struct mprof_stack_roots mprof_stack_roots;

// Returns whether pc is the address to which a coroutine's function returns.
static inline bool mprof_is_context_root(mprof_pc pc) {
  return pc == mprof_stack_roots.context;
}
// Returns how many of the n frames of a complete stack to keep: the callers of
// main and of a thread's start function are not the program's. before: number
// of return addresses of the stack before pcs.
static inline size_t mprof_without_root(const mprof_pc *pcs, size_t n,
                                        size_t before) {
  const struct mprof_module *libc = &mprof_stack_roots.libc;
  return before + n > 1 && pcs[n - 1] - libc->start < libc->end - libc->start
             ? n - 1
             : n;
}

#endif // MPROF_RT_UNWIND_STACK_RANGE_H
