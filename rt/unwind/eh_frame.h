// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the call frame information (.eh_frame) of a code address: the range of
// its function, and the instructions that eh_rule.h runs.
//
// The information is found with _dl_find_object (glibc 2.35), which does not
// take the loader's lock. If libc lacks _dl_find_object, all code is treated as
// code without call frame information. The functions below read only memory
// that the loader has mapped. They may be called anywhere, including in signal
// handlers.

#ifndef MPROF_RT_UNWIND_EH_FRAME_H
#define MPROF_RT_UNWIND_EH_FRAME_H

#include "sys/base.h"
#include "unwind/eh_cursor.h"

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

// A common information entry (CIE). It has the data that the entries (FDEs) of
// many functions share.
struct mprof_eh_cie {
  uint64_t code_align;
  int64_t data_align;
  uint8_t encoding; // encoding of code addresses in the FDEs
  bool has_augmentation;
  bool is_of_signal; // the functions return from signal handlers
  struct mprof_cursor instructions;
};

// The entry of .eh_frame that was found for a code address. `instructions` is
// the part of the entry with the instructions.
struct mprof_eh_found {
  struct mprof_code_range code; // function's range; empty: no entry found
  struct mprof_eh_cie cie;
  struct mprof_cursor instructions;
};

// Returns the entry for the code address pc.
struct mprof_eh_found mprof_eh_find(uintptr_t pc);

#endif // MPROF_RT_UNWIND_EH_FRAME_H
