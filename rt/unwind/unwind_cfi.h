// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinds by call frame information (eh_frame.h), and by frame pointers through
// code that has none. The unwind rules are cached (rules.h), but recognizing a
// known stack is faster (stack_slots.h). The functions take no lock and may run
// in signal handlers.

#ifndef MPROF_RT_UNWIND_UNWIND_CFI_H
#define MPROF_RT_UNWIND_UNWIND_CFI_H

#include "sys/arch.h"
#include "sys/base.h"
#include "unwind/rules.h"
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

// Unwinds the stack from fp, the frame address of the runtime's function that
// the program has called. So the first return address lies in the function that
// contains the call site. Writes at most `depth` return addresses to pcs and
// returns their number. Sets *end to the reason why the stack ends. Reads only
// memory inside *range, so reading cannot fault. If the kernel confirms that
// more memory is readable, extends *range.
size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth, enum mprof_stack_end *end);
// What mprof_unwind_checked finds out about a stack.
struct mprof_unwound {
  enum mprof_stack_end end;
  // Number of addresses at pcs that tell the whole stack: a later stack that
  // begins with the same addresses has the same frames and the same end. These
  // addresses are the frames and, if the stack is complete, the frames of libc
  // at the root, which are no frames of the program. 0: no number of addresses
  // tells where the stack ends, or the stack passes an entry of the runtime,
  // which pcs does not show.
  size_t telling;
};
// Unwinds a stack as mprof_unwind_cfi does, and stores facts about the stack in
// *facts.
size_t mprof_unwind_checked(struct mprof_stack_range *range, uintptr_t fp,
                            mprof_pc *pcs, size_t depth,
                            struct mprof_unwound *facts);
// Unwinds the stack whose first frame has the registers *from. from->pc becomes
// the first address in pcs.
size_t mprof_unwind_registers(struct mprof_stack_range *range,
                              const struct mprof_registers *from, mprof_pc *pcs,
                              size_t depth, enum mprof_stack_end *end);
// Searches the stack above the frame at fp for a signal handler. Returns the
// ucontext_t of the handler's signal. If several handlers are nested, returns
// the ucontext_t of the last signal. Returns NULL if no handler is on the
// stack.
const void *mprof_interrupted_context(struct mprof_stack_range *range,
                                      uintptr_t fp);
// Returns whether `frame` is the address of an active frame whose return
// address is pc. fp is the address of an inner frame on the same stack. The
// function with the frame `frame` must keep a frame pointer. The functions
// between the two frames need not keep frame pointers.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc);
// Returns the frame address of the runtime's entry that has called the function
// with the frame fp, directly or through other functions. An entry is a
// function that the program calls in place of a hooked function. Returns 0 if
// no entry has called the function.
uintptr_t mprof_entry_frame(struct mprof_stack_range *range, uintptr_t fp);

// Where the frame of a function of the runtime ends. There the stack pointer of
// its caller was at the call. The unwinder needs it to begin a stack whose
// first function has no frame pointer.
#if MPROF_RA_IS_PUSHED
static inline uintptr_t mprof_frame_end(uintptr_t fp) { return fp + 16; }
#else
// Returns the end of the frame at fp. The frame must belong to a function of
// the runtime that has called this function, directly or through others. The
// frame address and the return address may be anywhere in the frame. So the
// function looks for the code that runs in the frame, and reads the code's call
// frame information. If there is none, it returns the address behind both
// words.
uintptr_t mprof_frame_end(uintptr_t fp);
#endif

#endif // MPROF_RT_UNWIND_UNWIND_CFI_H
