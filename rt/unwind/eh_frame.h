// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information (.eh_frame) of a code address: the range of its
// function, and the unwind rule, which tells where the caller's frame is, even
// in code without frame pointers.
//
// The information is found with _dl_find_object (glibc 2.35), which does not
// take the loader's lock. If libc lacks _dl_find_object, all code is treated as
// code without call frame information. The functions below read only memory
// that the loader has mapped. They keep no state, allocate nothing and take no
// lock, so they may be called anywhere, including in signal handlers.

#ifndef MPROF_RT_UNWIND_EH_FRAME_H
#define MPROF_RT_UNWIND_EH_FRAME_H

#include "sys/base.h"

// Returns the range of the function that contains pc. If the compiler has split
// the function, returns only the part that contains pc. Returns an empty range
// if there is no call frame information for pc.
struct mprof_code_range {
  uintptr_t begin, end;
};
struct mprof_code_range mprof_eh_function(uintptr_t pc);

// Returns the range of the module (program or library) that contains pc.
// Returns an empty range if there is no such module, or if libc lacks
// _dl_find_object.
struct mprof_code_range mprof_eh_module(uintptr_t pc);

// --- rules ---

// The rule is computed by running the instructions of the call frame
// information. Only the rules for the stack pointer, the frame pointer and the
// return address are computed.

// The base register: the CFA is the value of this register plus a fixed offset.
// The CFA (canonical frame address) is the value of the stack pointer after the
// function has returned to its caller.
enum mprof_cfa_base {
  MPROF_CFA_UNKNOWN,
  MPROF_CFA_FROM_SP,
  MPROF_CFA_FROM_BP,
  // The CFA is not a sum: it is the word stored at a fixed offset from the
  // frame pointer register, which points to the caller's frame pointer. gcc
  // writes this rule for functions that align the stack.
  MPROF_CFA_AT_BP,
  MPROF_CFA_ROOT, // no register: the code has no caller
  // No register: the code returns from a signal handler. mprof_eh_rule returns
  // MPROF_CFA_UNKNOWN for this code, and unwind_cfi.c recognizes its
  // instructions.
  MPROF_CFA_OF_SIGNAL
};
struct mprof_cfa_rule {
  enum mprof_cfa_base base;
  // Offset in words. The CFA is the base register plus this offset. For
  // MPROF_CFA_AT_BP, the sum is the address of the word that contains the CFA.
  int32_t cfa_words;
  bool bp_is_saved;
  int32_t bp_words; // offset of the saved frame pointer from the CFA, in words
  // false: the return address is in its register. On processors whose calls
  // push the return address, it is always saved.
  bool ra_is_saved;
  int32_t ra_words; // offset of the saved return address from the CFA, in words
};

// Returns the rule for the code address pc. The rule's base is
// MPROF_CFA_UNKNOWN if pc has no call frame information, or if struct
// mprof_cfa_rule cannot express this information.
struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc);

#endif // MPROF_RT_UNWIND_EH_FRAME_H
