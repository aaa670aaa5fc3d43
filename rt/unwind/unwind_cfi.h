// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a frame to return addresses by call frame information.

#ifndef MPROF_RT_UNWIND_UNWIND_CFI_H
#define MPROF_RT_UNWIND_UNWIND_CFI_H

#include "unwind/unwind_fp.h"

// As mprof_unwind, through code that keeps no frame pointers, by its call frame
// information: unwind_cfi.c. Its steps are slower, so only stacks that begin in
// such code are followed so.
size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);
// The same from registers, of a call that returns to pc, or of an instruction
// at pc - 1 that a signal has interrupted. pc comes first.
struct mprof_registers {
  uintptr_t pc, sp, bp;
};
size_t mprof_unwind_registers(struct mprof_stack_range *range,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end);
// Whether code at pc returns from a signal handler: it calls rt_sigreturn, as
// libc's does. (Debuggers tell it so, too.)
bool mprof_is_signal_return(mprof_pc pc);
// What a signal has interrupted, a ucontext_t, whose handler is one of those
// that the frame address fp is below; of several the last that came. NULL if
// there is none.
const void *mprof_interrupted_context(struct mprof_stack_range *range,
                                      uintptr_t fp);
// Whether frame is the frame address of one of the functions on the stack that
// fp, the frame address of one of them, is on, and pc its return address. That
// function must keep a frame pointer, others need not.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc);
// The frame address of the entry that fp, the frame address of one of the
// runtime's functions, is below on its stack; 0 if there is none.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp);
// A module has been unloaded: what is remembered of code may be wrong now.
void mprof_unwind_forget(void);

#endif // MPROF_RT_UNWIND_UNWIND_CFI_H
