// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call frame information (.eh_frame). For each instruction of code without
// frame pointers it says where the caller's frame is. Only the rules of the
// stack pointer, the frame pointer and the return address are read.
//
// The information is found with _dl_find_object (glibc 2.35), which takes no
// lock of the loader. Where that function is missing, code counts as having no
// call frame information. The functions read only memory that the loader has
// mapped; they may be called anywhere, including in signal handlers.

#ifndef MPROF_RT_UNWIND_EH_FRAME_H
#define MPROF_RT_UNWIND_EH_FRAME_H

#include "sys/base.h"

// Says where the caller's frame is. The CFA (canonical frame address) is the
// stack pointer after the return.
enum mprof_cfa_base {
  MPROF_CFA_UNKNOWN,
  MPROF_CFA_FROM_SP,
  MPROF_CFA_FROM_BP,
  MPROF_CFA_ROOT // the code has no caller
};
struct mprof_cfa_rule {
  enum mprof_cfa_base base;
  int32_t cfa_words; // offset of the CFA from the base, in words
  bool bp_is_saved;
  int32_t bp_words; // offset of the saved frame pointer from the CFA, in words
};

// Returns the rule for a code address. Its base is MPROF_CFA_UNKNOWN if there
// is no call frame information for pc, or none that a rule can express.
struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc);

// Returns the code range that holds pc: a function, or a part of one that the
// compiler has placed elsewhere. Returns an empty range if there is no call
// frame information for pc.
struct mprof_code_range {
  uintptr_t begin, end;
};
struct mprof_code_range mprof_eh_function(uintptr_t pc);

#endif // MPROF_RT_UNWIND_EH_FRAME_H
