// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines which part of a stack is readable, recognizes the root of a stack,
// and names the reasons why a stack ends, for the unwinder (unwind_cfi.h).

#ifndef MPROF_RT_UNWIND_STACK_RANGE_H
#define MPROF_RT_UNWIND_STACK_RANGE_H

#include "process/modules.h"
#include "sys/arch.h"
#include "sys/base.h"

// Attribute of functions that read a stack. Sanitizers must not check the
// reads, because these functions read words in the frames of other functions.
#define MPROF_NO_SANITIZER                                                     \
  __attribute__((no_sanitize("address", "thread", "memory")))

// The part of a thread's own stack that is known to be readable. This part
// stays readable as long as the thread exists. The thread may also run on
// foreign stacks, such as those of coroutines or an alternate signal stack. The
// range of a foreign stack is determined anew each time, because the stack may
// be unmapped at any time.
struct mprof_stack_range {
  // [lo, hi) is readable. hi is the end of the stack. lo is moved down when
  // more of the stack is found to be readable.
  uintptr_t lo, hi;
  bool is_main; // true: stack of the process's first thread
};
// Returns the initial, empty range for the stack of the calling thread.
// is_main: the calling thread is the process's first thread.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main);

// --- readable memory ---

// Returns whether the frame at fp lies in *range.
static inline bool mprof_stack_holds(const struct mprof_stack_range *range,
                                     uintptr_t fp) {
  return fp >= range->lo && fp <= range->hi - 16;
}

// The part of mprof_stack_enter for the case that fp lies outside *range. Do
// not call this function; call mprof_stack_enter.
struct mprof_stack_range *
mprof_stack_enter_outside(struct mprof_stack_range *range,
                          struct mprof_stack_range *foreign, uintptr_t fp);
// Returns the readable range of the stack that contains the frame at fp. If fp
// lies on the thread's own stack, returns `range`. If fp lies on another stack,
// stores the readable range of that stack in *foreign and returns `foreign`.
// Returns NULL if not even the frame at fp is readable.
static inline struct mprof_stack_range *
mprof_stack_enter(struct mprof_stack_range *range,
                  struct mprof_stack_range *foreign, uintptr_t fp) {
  return mprof_likely(fp >= range->lo && fp + 16 <= range->hi)
             ? range
             : mprof_stack_enter_outside(range, foreign, fp);
}

// Extends *r, the known readable part of a foreign stack, upwards to include
// [addr, addr + 16). Returns false if [addr, addr + 16) is not readable.
bool mprof_stack_extend(struct mprof_stack_range *r, uintptr_t addr);
// Returns whether [addr, addr + 16) is readable. addr must lie above all
// addresses of the stack that were read before. is_foreign: *range belongs to a
// foreign stack, so the function extends *range upwards if needed.
static inline bool mprof_stack_reaches(struct mprof_stack_range *range,
                                       bool is_foreign, uintptr_t addr) {
  return mprof_likely(addr + 16 <= range->hi) ||
         (is_foreign && mprof_stack_extend(range, addr));
}

// Reads the word at addr in any frame of a stack.
MPROF_NO_SANITIZER static inline uintptr_t mprof_stack_word(uintptr_t addr) {
  return *(const uintptr_t *)addr;
}

// Reads the return address that a function has saved at addr.
MPROF_NO_SANITIZER static inline mprof_pc mprof_stack_return(uintptr_t addr) {
  return mprof_return_address(*(const uintptr_t *)addr);
}

// --- roots ---

// Finds the address range of libc's code. Called when the runtime starts.
void mprof_unwind_init(void);
// Finds the return address at the root of the stacks that makecontext prepares.
// Called before the first stack is unwound. This function is not called at
// start, so that a program without events does not spend the time.
void mprof_unwind_learn_roots(void);

// Maximum number of known roots, that is, addresses in libc to which main or
// the start functions of threads return. glibc has three roots, because main,
// start functions of POSIX threads and start functions of C11 threads return to
// different addresses.
#define MPROF_ROOTS 4

struct mprof_stack_roots {
  // Address to which a function started by makecontext returns; 0: unknown.
  // Written once. A frame with this return address is the root of a coroutine's
  // stack. Unwinding must end at this frame, because the caller's frame address
  // in the frame is an arbitrary value.
  mprof_pc context;
  // The module of libc; empty if libc is linked statically. Written once at
  // start. If a frame of libc is the root of a stack, the frame is dropped,
  // because it is not a frame of the program.
  struct mprof_module libc;
  // Addresses in libc to which main and the start functions of threads return;
  // 0: unused. Each element is written once.
  _Atomic(mprof_pc) known[MPROF_ROOTS];
};
extern MPROF_HIDDEN struct mprof_stack_roots mprof_stack_roots;

// Returns whether a frame without call frame information, with the code address
// pc and the frame pointer bp, is the root of a stack. A new thread starts with
// frame pointer 0. make_fcontext of Boost.Context stores the address that ends
// a fiber also as the frame pointer of the fiber's first function.
static inline bool mprof_is_made_root(mprof_pc pc, uintptr_t bp) {
  return bp == 0 || bp == pc;
}

// Returns whether pc is the return address at the root of a stack of
// makecontext.
static inline bool mprof_is_context_root(mprof_pc pc) {
  return pc == mprof_stack_roots.context;
}
// Remembers pc as an address to which main or the start functions of threads
// return. Does nothing if MPROF_ROOTS such addresses are already known, or if
// pc does not lie in libc.
void mprof_learn_root(mprof_pc pc);
// Returns whether main or the start functions of threads return to pc. A frame
// with this return address is the root of a stack. Returns false if
// mprof_learn_root was not called for pc.
static inline bool mprof_is_root(mprof_pc pc) {
  for (int i = 0; i < MPROF_ROOTS; i++)
    if (pc ==
        atomic_load_explicit(&mprof_stack_roots.known[i], memory_order_relaxed))
      return true;
  return false;
}
// Returns how many of the n frames at pcs the caller must keep. Call this
// function for a complete stack. The stack's last frame may be libc's caller of
// main or of a thread's start function; this frame is dropped. before: number
// of the stack's return addresses that precede pcs.
static inline size_t mprof_without_root(const mprof_pc *pcs, size_t n,
                                        size_t before) {
  const struct mprof_module *libc = &mprof_stack_roots.libc;
  return before + n > 1 && pcs[n - 1] - libc->start < libc->end - libc->start
             ? n - 1
             : n;
}

// Returns how many of the n frames at pcs the caller must keep. Call this
// function for a complete stack. Drops the frames of libc at the root of the
// stack; there may be several. In the first thread, the outermost frame is the
// program's startup code, which calls libc. This outermost frame is dropped,
// too.
size_t mprof_without_roots(const mprof_pc *pcs, size_t n);

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

#endif // MPROF_RT_UNWIND_STACK_RANGE_H
