// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps from a frame of a stack to the frame of its caller, or to the code that
// a signal has interrupted. The unwind rule of the frame's code (rules.h) tells
// where the caller's frame is. The functions take no lock and may run in signal
// handlers.
//
// range: the part of the stack that may be read
// is_foreign: whether the stack is not the thread's own; see
//   mprof_stack_reaches

#ifndef MPROF_RT_UNWIND_UNWIND_STEP_H
#define MPROF_RT_UNWIND_UNWIND_STEP_H

#include "unwind/rules.h"
#include "unwind/stack_end.h"
#include "unwind/stack_range.h"

// The registers of a frame. pc is the return address of a call. For code that a
// signal has interrupted, pc is the address of the interrupted instruction plus
// 1, because the unwinder looks up pc - 1.
struct mprof_registers {
  uintptr_t pc, sp, bp;
#if !MPROF_RA_IS_PUSHED
  // The register with the return address of a function that calls no other
  // function; 0: unknown.
  uintptr_t link;
#endif
};
// Returns the registers of the code that a signal has interrupted. context: the
// ucontext_t of the signal.
struct mprof_registers mprof_context_frame(const void *context);

// Replaces *f, the registers of a frame, by the registers of its caller. The
// code of the frame, which has the rule r, must keep a frame pointer. Returns
// false if the caller's frame cannot be found.
static inline bool mprof_ascend_chain(struct mprof_stack_range *range,
                                      bool is_foreign, struct mprof_rule r,
                                      struct mprof_registers *f) {
  const uintptr_t bp = f->bp;
  // The first comparison checks both bounds of bp. If bp is below sp - 8, the
  // unsigned difference is huge. In code without call frame information, bp may
  // be sp - 8.
  if (bp + 8 - f->sp > MPROF_MAX_FRAME_BYTES || (bp & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, bp))
    return false;
  *f = (struct mprof_registers){.pc = mprof_stack_return(bp + 8),
                                .sp = bp + mprof_rule_chain_offset(r),
                                .bp = mprof_stack_word(bp)};
  return true;
}

// Replaces *f, the registers of a frame, by the registers of its caller, as
// rule r describes. Returns false if the caller's frame cannot be found.
bool mprof_ascend(struct mprof_stack_range *range, bool is_foreign,
                  struct mprof_rule r, struct mprof_registers *f);

// Replaces the registers *f by the registers of the code that a signal has
// interrupted. Call this function when f->pc is the address to which the signal
// handler returns. The code at this address calls rt_sigreturn. The kernel has
// saved the interrupted registers at f->sp. Returns false if the saved
// registers cannot be read. (Linux: struct rt_sigframe)
bool mprof_ascend_signal(struct mprof_stack_range *range, bool is_foreign,
                         struct mprof_registers *f);

#endif // MPROF_RT_UNWIND_UNWIND_STEP_H
