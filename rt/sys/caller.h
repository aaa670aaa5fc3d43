// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function of the runtime saves of the program's code that called it.
// Depends on the processor.

#ifndef MPROF_RT_SYS_CALLER_H
#define MPROF_RT_SYS_CALLER_H

#include "sys/base.h"

// What a thread's caller has in the registers that functions keep for it: they
// may hold what the thread alone can reach (stuck_scan.c).
struct mprof_saved {
  uintptr_t rbx, r12, r13, r14, r15;
};

// In the entry: later, another function's frame may have one of them, which
// will be gone.
#define MPROF_SAVE(s)                                                          \
  __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\t"    \
                   "movq %%r14, %3\n\tmovq %%r15, %4"                          \
                   : "=m"((s)->rbx), "=m"((s)->r12), "=m"((s)->r13),           \
                     "=m"((s)->r14), "=m"((s)->r15))

// Whether waits are noted now. The registers are for those alone, so what

// The program's thread that has called the runtime: what its functions have is
// above frame, the frame address of the one that it called, and here.
struct mprof_caller {
  uintptr_t frame;
  struct mprof_saved saved;
};

// In that function.
#define MPROF_CALLER(c)                                                        \
  do {                                                                         \
    (c)->frame = (uintptr_t)__builtin_frame_address(0);                        \
    MPROF_SAVE(&(c)->saved);                                                   \
  } while (0)

// A wait, in the frame of its entry.

#endif // MPROF_RT_SYS_CALLER_H
