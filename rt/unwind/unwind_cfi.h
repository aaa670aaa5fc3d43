// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds by call frame information (eh_frame.h), for stacks that pass through
// code without frame pointers. The rules are cached, but unwinding by them is
// still slower than unwinding by frame pointers. So it is used for new stacks,
// and for stacks that frame pointers do not lead through. The functions take no
// lock and may run in signal handlers.

#ifndef MPROF_RT_UNWIND_UNWIND_CFI_H
#define MPROF_RT_UNWIND_UNWIND_CFI_H

#include "unwind/unwind_fp.h"

// Does the same as mprof_unwind, but can also unwind through code without frame
// pointers.
size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);
// Does the same as mprof_unwind_cfi. Stores in *by_frame_pointers whether the
// frame pointers alone lead to the same frames and the same end, because all
// code on the stack keeps frame pointers. If so, each later stack with these
// return addresses in its chain of frame pointers (mprof_unwind) equals this
// stack, too.
size_t mprof_unwind_checked(struct mprof_stack_range *range, uintptr_t fp,
                            mprof_pc *pcs, size_t depth,
                            enum mprof_stack_end *end, bool *by_frame_pointers);
// Registers from which mprof_unwind_registers starts. pc is the return address
// of a call. If the registers are of code that a signal has interrupted, pc is
// the address of the interrupted instruction plus 1. pc becomes the first
// address in pcs.
struct mprof_registers {
  uintptr_t pc, sp, bp;
};
size_t mprof_unwind_registers(struct mprof_stack_range *range,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end);
// Returns whether the instructions at pc are those with which libc returns from
// a signal handler, that is, calls rt_sigreturn. Debuggers use the same test.
bool mprof_is_signal_return(mprof_pc pc);
// Returns the ucontext_t of the signal whose handler is on the stack above the
// frame address fp. If several handlers are nested, returns the ucontext_t of
// the last signal. Returns NULL if no handler is on the stack.
const void *mprof_interrupted_context(struct mprof_stack_range *range,
                                      uintptr_t fp);
// Returns whether `frame` is the address of an active frame whose return
// address is pc. fp is the address of an inner frame on the same stack. The
// function of `frame` must keep a frame pointer; the functions between the two
// frames need not.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc);
// Returns the frame address of the runtime's entry that has called, directly or
// through other functions, the function with frame address fp. Returns 0 if no
// entry has.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp);
// Drops the cached rules. Called when a module was unloaded, since other code
// may be loaded at its addresses.
void mprof_unwind_forget(void);

#endif // MPROF_RT_UNWIND_UNWIND_CFI_H
