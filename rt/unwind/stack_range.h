// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines which part of a stack is readable, and recognizes the root of a
// stack. Unwinding by frame pointers (unwind_fp.h) and unwinding by call frame
// information (unwind_cfi.h) both use these functions.

#ifndef MPROF_RT_UNWIND_STACK_RANGE_H
#define MPROF_RT_UNWIND_STACK_RANGE_H

#include "process/modules.h"
#include "sys/base.h"

// Attribute of functions that read a stack. They read words of other functions'
// frames, so sanitizers must not check the reads.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

// The part of a thread's own stack that is known to be readable. It stays
// readable as long as the thread exists. The thread may also run on foreign
// stacks, such as those of coroutines or an alternate signal stack. A foreign
// stack may be unmapped at any time, so its range is not kept.
struct mprof_stack_range {
  uintptr_t lo, hi; // lo grows downwards from hi, the end of the stack
  bool is_main;     // true: the stack of the process's first thread
};
// Returns the initial, empty range for the stack of the calling thread.
// is_main: the calling thread is the process's first thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// --- readable memory ---

// Does the work of mprof_stack_enter if fp lies outside *range. Call
// mprof_stack_enter instead.
struct mprof_stack_range *
mprof_stack_enter_outside(struct mprof_stack_range *range,
                          struct mprof_stack_range *foreign, uintptr_t fp);
// Returns the readable range of the stack that contains fp. If fp lies on the
// thread's own stack, the result is range. Otherwise the function fills
// *foreign and returns foreign. Returns NULL if not even the frame at fp is
// readable.
static inline struct mprof_stack_range *
mprof_stack_enter(struct mprof_stack_range *range,
                  struct mprof_stack_range *foreign, uintptr_t fp) {
  return mprof_likely(fp >= range->lo && fp + 16 <= range->hi)
             ? range
             : mprof_stack_enter_outside(range, foreign, fp);
}

// Extends the known readable part of a foreign stack upwards to include [addr,
// addr + 16). Returns false if that memory is not readable.
bool mprof_stack_extend(struct mprof_stack_range *r, uintptr_t addr);
// Returns whether [addr, addr + 16) is readable. If is_foreign, range is the
// range of a foreign stack, which the function extends upwards if needed. addr
// must lie above all addresses read so far.
static inline bool mprof_stack_reaches(struct mprof_stack_range *range,
                                       bool is_foreign, uintptr_t addr) {
  return mprof_likely(addr + 16 <= range->hi) ||
         (is_foreign && mprof_stack_extend(range, addr));
}

// --- roots ---

// Finds the address range of libc's code. Called at start.
void mprof_unwind_init(void);
// Finds the return address at the root of the stacks that makecontext prepares.
// Called before the first stack is unwound. It is not called at start, so that
// programs without events do not pay for it.
void mprof_unwind_learn_roots(void);

// Maximum number of known roots. glibc has three: main, and the start functions
// of POSIX and of C11 return to different addresses.
#define MPROF_ROOTS 4

struct mprof_stack_roots {
  // Address to which a function started by makecontext returns; 0: unknown.
  // This return address marks the root of a coroutine's stack. The frame
  // address saved there is an arbitrary value from the thread that made the
  // context. Written once.
  mprof_pc context;
  // libc's module, empty if libc is linked statically. Frames of libc at the
  // root of a stack are not frames of the program. Written once at start.
  struct mprof_module libc;
  // Addresses in libc to which main and the start functions of threads return;
  // 0: unused. Each is written once.
  _Atomic(mprof_pc) known[MPROF_ROOTS];
};
extern struct mprof_stack_roots mprof_stack_roots;

// Returns whether pc is the address to which a coroutine's function returns.
static inline bool mprof_is_context_root(mprof_pc pc) {
  return pc == mprof_stack_roots.context;
}
// Remembers pc as the address to which main or the start functions of threads
// return. Does nothing if too many such addresses are known.
void mprof_learn_root(mprof_pc pc);
// Returns whether main or the start functions of threads return to pc. So pc is
// the root of a stack. Returns false if mprof_learn_root was not called for pc.
static inline bool mprof_is_root(mprof_pc pc) {
  for (int i = 0; i < MPROF_ROOTS; i++)
    if (pc ==
        atomic_load_explicit(&mprof_stack_roots.known[i], memory_order_relaxed))
      return true;
  return false;
}
// Returns how many of the n frames at pcs to keep. The stack is complete, so
// its last frames may be libc's callers of main or of a thread's start
// function, which are dropped. before: number of the stack's return addresses
// before pcs.
static inline size_t mprof_without_root(const mprof_pc *pcs, size_t n,
                                        size_t before) {
  const struct mprof_module *libc = &mprof_stack_roots.libc;
  return before + n > 1 && pcs[n - 1] - libc->start < libc->end - libc->start
             ? n - 1
             : n;
}

#endif // MPROF_RT_UNWIND_STACK_RANGE_H
