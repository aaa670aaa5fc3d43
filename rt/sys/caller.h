// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saves the frame address and the callee-saved registers of a thread when the
// program calls the runtime. The search for stuck threads (stuck_scan.c) needs
// the registers, because a register may hold the only pointer to an object.

#ifndef MPROF_RT_SYS_CALLER_H
#define MPROF_RT_SYS_CALLER_H

#include "sys/arch.h"
#include "sys/base.h"

// struct mprof_saved has the values that the callee-saved registers had when
// the program called the runtime. A value may be the only pointer to an object.
// Use the macro MPROF_SAVE in the entry, that is, in the runtime's function
// that the program calls. Before the macro runs, the compiler may have moved a
// register's value to the frame of the function that uses the macro. The search
// for stuck threads also scans the entry's frame, but not the frames of
// functions that the entry calls.

// The state of one of the program's threads when the thread called the runtime.
// `frame` is the frame address of the entry, the runtime's function that the
// program called. The program's frames lie above `frame`. `saved` has the
// program's registers.
struct mprof_caller {
  uintptr_t frame;
  struct mprof_saved saved;
};

// Fills *c with the state of the calling thread. Use this macro in the entry,
// the runtime's function that the program calls.
#define MPROF_CALLER(c)                                                        \
  do {                                                                         \
    (c)->frame = (uintptr_t)__builtin_frame_address(0);                        \
    MPROF_SAVE(&(c)->saved);                                                   \
  } while (0)

#endif // MPROF_RT_SYS_CALLER_H
