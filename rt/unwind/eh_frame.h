// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call frame information (.eh_frame): for each instruction of code that keeps
// no frame pointers, where its caller's frame is. Of that only three registers
// matter, the stack and the frame pointer and the return address.
//
// It is found without the loader's lock (_dl_find_object, glibc 2.35); without
// that function no code has any. Reads only what the loader has mapped, and may
// be called anywhere.

#ifndef MPROF_RT_UNWIND_EH_FRAME_H
#define MPROF_RT_UNWIND_EH_FRAME_H

#include "sys/base.h"

// Where the caller's frame is. cfa: the stack pointer after the return.
enum mprof_cfa_base {
  MPROF_CFA_UNKNOWN,
  MPROF_CFA_FROM_SP,
  MPROF_CFA_FROM_BP,
  MPROF_CFA_ROOT // nobody called
};
struct mprof_cfa_rule {
  enum mprof_cfa_base base;
  int32_t cfa_words; // the cfa, from the base
  bool bp_is_saved;
  int32_t bp_words; // where the caller's frame pointer is, from the cfa
};

// What holds at an address of code.
struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc);

// The code that the address is in, of one function or a part of it that the
// compiler has put elsewhere; empty if nothing says so.
struct mprof_code_range {
  uintptr_t begin, end;
};
struct mprof_code_range mprof_eh_function(uintptr_t pc);

#endif // MPROF_RT_UNWIND_EH_FRAME_H
