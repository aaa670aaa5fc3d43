// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by call frame information (eh_frame.h), for stacks that pass
// through code without frame pointers. Rules are cached, but a step is still
// slower than one by frame pointers. So it is used only for stacks that begin
// in such code. The functions take no lock and may run in signal handlers.

#ifndef MPROF_RT_UNWIND_UNWIND_CFI_H
#define MPROF_RT_UNWIND_UNWIND_CFI_H

#include "unwind/unwind_fp.h"

// Unwinds like mprof_unwind, but through code without frame pointers, too.
size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);
// Unwinds from registers. They belong to a call that returns to pc, or to an
// instruction at pc - 1 that a signal has interrupted. pc becomes the first
// address in pcs.
struct mprof_registers {
  uintptr_t pc, sp, bp;
};
size_t mprof_unwind_registers(struct mprof_stack_range *range,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end);
// Returns whether the code at pc returns from a signal handler, that is, calls
// rt_sigreturn as libc's code does. Debuggers use the same test.
bool mprof_is_signal_return(mprof_pc pc);
// Returns the ucontext_t of the signal whose handler has called, directly or
// not, the function with the frame address fp. If several handlers are nested,
// returns the last signal's. Returns NULL if no handler is on the stack.
const void *mprof_interrupted_context(struct mprof_stack_range *range,
                                      uintptr_t fp);
// Returns whether frame is a frame address on the stack on which fp is another
// one, and whether pc is the return address in that frame. The function of
// frame must keep a frame pointer; the functions between need not.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc);
// Returns the frame address of the entry that called the runtime's function
// with the frame address fp, directly or not; 0 if no entry did.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp);
// Drops the cached rules, since a module was unloaded and other code may come
// to lie at its addresses.
void mprof_unwind_forget(void);

#endif // MPROF_RT_UNWIND_UNWIND_CFI_H
