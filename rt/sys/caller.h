// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saves the state of the thread when the program calls the runtime: the frame
// address and the callee-saved registers. The search for stuck threads needs
// both, since a register may hold the only pointer to an object (stuck_scan.c).
// This code is for x86-64 only.

#ifndef MPROF_RT_SYS_CALLER_H
#define MPROF_RT_SYS_CALLER_H

#include "sys/base.h"

// The caller's values of the callee-saved registers. A value may be the only
// pointer to an object.
struct mprof_saved {
  uintptr_t rbx, r12, r13, r14, r15;
};

// Saves the registers to *s. Use this macro in the entry itself, that is, in
// the runtime's function that the program calls. A function called by the entry
// may already have moved a register's value into its own frame, which no longer
// exists when the value is needed.
#define MPROF_SAVE(s)                                                          \
  __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\t"    \
                   "movq %%r14, %3\n\tmovq %%r15, %4"                          \
                   : "=m"((s)->rbx), "=m"((s)->r12), "=m"((s)->r13),           \
                     "=m"((s)->r14), "=m"((s)->r15))

// The state of a thread of the program at its call into the runtime. The
// program's frames lie above `frame`, the frame address of the runtime's
// function that the program called; the program's registers are in `saved`.
struct mprof_caller {
  uintptr_t frame;
  struct mprof_saved saved;
};

// Fills *c. Use this macro in the runtime's function that the program calls.
#define MPROF_CALLER(c)                                                        \
  do {                                                                         \
    (c)->frame = (uintptr_t)__builtin_frame_address(0);                        \
    MPROF_SAVE(&(c)->saved);                                                   \
  } while (0)

#endif // MPROF_RT_SYS_CALLER_H
